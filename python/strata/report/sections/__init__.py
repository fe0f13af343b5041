"""The sections of the report, one module each; a section is a function of the source and knows nothing of
HTML.
"""
