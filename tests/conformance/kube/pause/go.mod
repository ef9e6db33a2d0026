module olmf.dev/pause

go 1.25.0
