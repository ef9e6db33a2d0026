module olmf.dev/operator

go 1.25.0
