# ctest.awk - sums up what `ctest -V` printed: "passed failed skipped", counting a test program's own
# tests where it reports them ("N passed, N failed") and its result where it does not. With show=1
# it prints instead what went wrong: the output of failed tests, and the reasons of skipped ones.

/^[0-9]+: / {
    id = $0
    sub(/:.*/, "", id)
    line = substr($0, length(id) + 3)
    text[id] = text[id] line "\n"
    if (line ~ /^skipped: /)
        reason[id] = line
    sub(/^tests: /, "", line)
    if (line ~ /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/)
        own[id] = line
}

/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    id = $0
    sub(/^[^#]*#/, "", id)
    name = id
    sub(/:.*/, "", id)
    sub(/^[0-9]+: */, "", name)
    sub(/ .*/, "", name)
    names[id] = name
    state[id] = / Passed / ? "passed" : /\*\*\*Skipped/ ? "skipped" : "failed"
}

END {
    for (id in state) {
        if (state[id] == "skipped") {
            skipped++
            if (show)
                print (id in reason ? reason[id] : "skipped: " names[id])
            continue
        }
        ran_failed = 0
        if (id in own) {
            split(own[id], n, /[ ,]+/)
            passed += n[1]
            ran_failed = n[3]
            skipped += n[5]
            if (show && n[5] > 0 && id in reason)
                print reason[id]
        } else if (state[id] == "passed") {
            passed++
        }
        if (state[id] == "failed" && ran_failed == 0)
            ran_failed = 1
        failed += ran_failed
        if (show && ran_failed > 0)
            print "== " names[id] "\n" text[id]
    }
    if (!show)
        print passed + 0, failed + 0, skipped + 0
}
