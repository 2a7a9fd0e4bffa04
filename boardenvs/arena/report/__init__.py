"""What people see of a tournament.

`display` shows it as it is played. `files` writes its results: `document` as JSON, `markdown` and
`plots` as a report with pictures; `notes` and `text` are words and figures that all of them share.
"""
