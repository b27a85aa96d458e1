# What github-action-benchmark asks of the file of a custom tool: an array of results, a name once, a
# number each. True or an error.
def check(condition; what): if condition then . else error("\(what): \(tojson)") end;
check(type == "array"; "no array")
| map(check(type == "object"; "no object")
    | check((.name | type) == "string" and (.name | length) > 0; "no name")
    | check((.unit | type) == "string" and (.unit | length) > 0; "no unit")
    | check((.value | type) == "number"; "no number")
    | check((has("range") | not) or (.range | type) == "string"; "range is no text")
    | check((has("extra") | not) or (.extra | type) == "string"; "extra is no text")
    | check((keys - ["name", "unit", "value", "range", "extra"]) == []; "other keys"))
| check((map(.name) | unique | length) == length; "a name twice")
| true
