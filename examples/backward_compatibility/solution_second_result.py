"""A second result that models of version 1 do not notice: the solution of the chapter's exercise."""

from changes import OUTPUT, Change

second_result = Change(
    f"""
    .Attr("M: int >= 0 = 0")
    {OUTPUT}
    .Output("codes: M * uint8")
    """,
    OUTPUT,
)
