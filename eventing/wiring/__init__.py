"""Composes each program from its settings: one module for a program, and three for what several share.

`environment` is the only module of the pipeline that reads environment variables, `content` builds what reads images,
`intake` what takes events. A program's module imports all its parts at the top, so the graph of imports shows what the
program consists of; a verb imports only the module of the program that it runs.
"""
