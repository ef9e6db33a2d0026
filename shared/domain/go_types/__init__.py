"""Values as Go's types hold and write them: three engines over the same tables, which become one."""
