# check.awk - reads every C file of the tree; check.sh names the rules.

function report(rule, text)
{
    print rule ": " FILENAME ":" FNR ": " text
}

# The code of a line: strings emptied, comments cut. `inside` tells whether a comment goes on.
function code_of(line,    out, at, quote)
{
    out = ""
    while (line != "") {
        if (inside) {
            at = index(line, "*/")
            if (at == 0)
                return out
            line = substr(line, at + 2)
            inside = 0
            continue
        }
        if (!match(line, /["']|\/\*|\/\//))
            return out line
        out = out substr(line, 1, RSTART - 1)
        quote = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (quote == "/*") {
            inside = 1
        } else if (quote == "//") {
            slashes = 1
            return out
        } else {
            line = after_string(line, quote)
            out = out quote quote
        }
    }
    return out
}

function after_string(line, quote,    i, c)
{
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\\")
            i++
        else if (c == quote)
            return substr(line, i + 1)
    }
    return ""
}

# The row's word that a file belongs to: its path without the ending, or a pattern that makes one
# module of several files (common/rds*).
function module_of(path,    i)
{
    sub(/\.[a-z]+$/, "", path)
    if (path in layer)
        return path
    for (i = 1; i <= patterns; i++)
        if (path ~ pattern_of(pattern[i]))
            return pattern[i]
    return path
}

# A row's patterns are paths where * stands for anything but a slash, and ** for anything.
function pattern_of(glob)
{
    gsub(/\./, "\\.", glob)
    gsub(/\*\*/, "\001", glob)
    gsub(/\*/, "[^/]*", glob)
    gsub(/\001/, ".*", glob)
    return "^" glob "$"
}

function allowed(path, globs,    n, i, each)
{
    n = split(globs, each, " ")
    for (i = 1; i <= n; i++)
        if (path ~ pattern_of(each[i]))
            return 1
    return 0
}

function add_module(word)
{
    if (word in layer)
        print "unlisted: " lists "/layers:1: " word " stands there twice"
    layer[word] = level
    if (word ~ /\*/)
        pattern[++patterns] = word
}

function read_lists(    line, n, i, part)
{
    while ((getline line < (lists "/layers")) > 0) {
        sub(/#.*/, "", line)
        n = split(line, part, " ")
        level += n > 0
        for (i = 1; i <= n; i++)
            add_module(part[i])
    }
    while ((getline line < (lists "/vendors")) > 0) {
        sub(/#.*/, "", line)
        n = split(line, part, " ")
        if (n == 0)
            continue
        vendor[++vendors] = part[1]
        sub(/^ *[^ ]+/, "", line)
        vendor_files[vendors] = line
    }
    while ((getline line < (lists "/banned")) > 0) {
        if (line ~ /^(#|$)/)
            continue
        n = split(line, part, "|")
        for (i = 1; i <= n; i++) {
            sub(/^ +/, "", part[i])
            sub(/ +$/, "", part[i])
        }
        ban[part[1]] = 1
        ban_where[part[1]] = part[2]
        ban_except[part[1]] = part[3]
        ban_why[part[1]] = part[4]
    }
}

function end_of_file()
{
    limit = file ~ /^tests\// ? 600 : 400
    if (file != "" && lines > limit)
        print "long-file: " file ":" lines ": " lines " lines, at most " limit
}

function check_calls(code,    name)
{
    while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ ]*\(/)) {
        name = substr(code, RSTART, RLENGTH - 1)
        code = substr(code, RSTART + RLENGTH)
        sub(/ +$/, "", name)
        if (name in ban && allowed(FILENAME, ban_where[name]) && !allowed(FILENAME, ban_except[name]))
            report("banned", name ": " ban_why[name])
    }
}

function check_project_include(path,    mine, other, header)
{
    header = FILENAME
    sub(/\.c$/, ".h", header)
    if (FILENAME ~ /\.c$/ && path == header && includes > 1)
        report("own-header", "its own header comes first")
    if (FILENAME ~ /^tests\// || path ~ /^(tests|gen)\//)
        return
    mine = module_of(FILENAME)
    other = module_of(path)
    if (mine == other)
        return
    if (!(other in layer))
        report("unlisted", other " stands on no line of " lists "/layers")
    else if (mine in layer && layer[other] >= layer[mine])
        report("layer", mine " may not include " other)
}

function check_vendor_include(path,    i)
{
    for (i = 1; i <= vendors; i++)
        if (index(path, vendor[i]) == 1 && !allowed(FILENAME, vendor_files[i]))
            report("vendor", "<" path "> may be included only by" vendor_files[i])
}

BEGIN { read_lists() }

FNR == 1 {
    end_of_file()
    file = FILENAME
    inside = includes = opened = 0
    name = FILENAME
    sub(/.*\//, "", name)
    if (FILENAME ~ /\.h$/ && index($0, "/* " name " - ") != 1)
        report("header", "the first line says what it is: /* " name " - what. */")
    if (FILENAME !~ /^tests\// && !(module_of(FILENAME) in layer))
        report("unlisted", module_of(FILENAME) " stands on no line of " lists "/layers")
}

{
    lines = FNR
    slashes = 0
    code = code_of($0)
    if (slashes)
        report("comment", "comments are /* */")
    if (code ~ /\(/)
        check_calls(code)
}

code ~ /^[ ]*#[ ]*include/ {
    includes++
    target = $0
    if (match(target, /"[^"]+"/))
        check_project_include(substr(target, RSTART + 1, RLENGTH - 2))
    else if (match(target, /<[^>]+>/))
        check_vendor_include(substr(target, RSTART + 1, RLENGTH - 2))
}

/^{/ { opened = FNR }
/^}/ {
    if (opened && FNR - opened - 1 > 60)
        report("long-function", FNR - opened - 1 " lines, at most 60")
    opened = 0
}

END { end_of_file() }
