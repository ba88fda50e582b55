//! What classes say of their members, in the programs that they become.

use serde_json::{Value, json};

use crate::support::{available, build, build_faults, run};

fn described(text: &str, class: &str) -> Vec<Value> {
    let built = build(text, class, "x86_64");
    let output = run(&built, &["--describe"]);
    let program: Value = serde_json::from_slice(&output.stdout).expect("a description");
    program["parameters"].as_array().expect("a list").clone()
}

#[test]
fn a_subclass_gives_value_and_sweeps() {
    if !available("x86_64") {
        return;
    }
    let text = "yamba abstract t {
        param int scale = 1 over {1, 2} quick {1};
        param int size = 4 * scale quick {3};
        void benchmark() {} }
    yamba a extends t { scale = 8 over linear(scale, 2 * scale, 8); size over {5} quick {6}; }
    yamba b extends t { scale = 16; }";
    let shown = |class: &str| -> Vec<Value> {
        let each = described(text, class).into_iter();
        each.map(|p| json!([p["name"], p["value"], p["over"], p["quick"]]))
            .collect()
    };
    assert_eq!(
        shown("a"),
        [
            json!(["scale", 8, [8, 16], null]),
            json!(["size", 32, [5], [6]])
        ]
    );
    assert_eq!(
        shown("b"),
        [
            json!(["scale", 16, [1, 2], [1]]),
            json!(["size", 64, null, [3]])
        ]
    );
}

/// By the compiler's own word. What is measured has to be optimised, whatever its tags; and so has what a cold class extends, and what extends it.
#[test]
fn what_is_imported_and_cold_is_not_optimised() {
    if !available("x86_64") {
        return;
    }
    let told = "native {
        static int optimised() { int known = 1; return __builtin_constant_p(known); }
    }";
    let text = format!(
        "yamba warm extends Part {{ {told} }}
        yamba cool extends warm {{ tags cold; {told} }}
        yamba port ports cool on linux {{ {told} }}
        yamba more extends cool {{ {told} }}
        yamba abstract t {{
            tags cold;
            import(cool);
            import(more);
            param int base = cool.yamba_warm::optimised();
            param int cold = cool.yamba_cool::optimised();
            param int port = cool.optimised();
            param int more_than_that = more.optimised();
            param int own = optimised();
            {told}
            void benchmark() {{}} }}
        yamba a extends t {{}}"
    );
    let values: Vec<Value> = described(&text, "a")
        .iter()
        .map(|p| p["value"].clone())
        .collect();
    assert_eq!(values, [json!(1), json!(0), json!(0), json!(1), json!(1)]);
}

/// Names that system headers have as macros where they are included, and functions that say `const`.
#[test]
fn names_and_functions_as_c_has_them() {
    if !available("x86_64") {
        return;
    }
    let text = "yamba abstract t {
        param int major = 1;
        int minor;
        uint64_t makedev(int linux) const;
        auto tail() const -> const char * { return \"\"; }
        void benchmark() {} }
    yamba t_linux ports t on linux {
        int unix;
        uint64_t makedev(int linux) const noexcept { minor = major + linux; return operations(); }
        void setup() { unix = int(makedev(2)) + *tail(); }
    }";
    assert_eq!(described(text, "t")[0]["name"], "major");
}

#[test]
fn a_const_function_of_native_is_told_what_to_do() {
    if !available("x86_64") {
        return;
    }
    let text = "yamba t { native { uint64_t f() const { return operations(); } } void benchmark() { (void)f(); } }";
    let (_, shown) = build_faults(text, "t", "x86_64");
    assert!(shown.contains("leave `const` out"), "{shown}");
}

/// Each process knows which it is, and any of them can say that this point cannot be measured here.
#[test]
fn a_point_is_skipped_by_one_of_several_processes() {
    if !available("x86_64") {
        return;
    }
    let text = "yamba t {
        import(here);
        param uint64_t bad = 99;
        void prepare() { if (process != 0) yamba::fail(\"it has not started\"); }
        void setup() { if (process == bad) here.skip(\"%d of %d\", int(process), int(processes)); }
        void benchmark() {}
        evidence uint64_t own() { return process; } }";
    let built = build(text, "t", "x86_64");
    let launch = |bad: &str, processes: &str| {
        let brief =
            "--run --intervals 1 --time-ns 0 --warmup-ns 0 --loaded-ns 1000 --no-lock --processes";
        let set = format!("bad={bad}");
        let mut words: Vec<&str> = brief.split(' ').collect();
        words.extend([processes, "--set", &set]);
        let output = run(&built, &words);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (code, _, out) = launch("99", "2");
    assert_eq!(code, Some(0), "{out}");
    assert!(
        out.contains("\"own\":0") && out.contains("\"own\":1"),
        "{out}"
    );
    assert_eq!(launch("1", "2").0, Some(4));
    assert_eq!(launch("1", "2").1, "1 of 2\n");
    assert_eq!(launch("0", "1").1, "0 of 1\n");
}

/// Whatever is virtual in the C++, a call finds the most derived definition: from a base, through a template, from a struct of the author's own.
#[test]
fn a_call_finds_the_most_derived_definition() {
    if !available("x86_64") {
        return;
    }
    let text = "yamba abstract part extends Part {
        int own() { return 1; }
        int lone() { return 5; }
        int called() { return 1; }
        int both() { return called() * 10 + lone(); }
        int reached() { return 1; }
        int before() { return 1; }
        native { template <class T> int reach(T &of) { return of.reached(); } }
        int through() { return reach(*this); } }
    yamba of_that extends part {
        int own() { return 2; }
        int called() { return 2; }
        int reached() { return 2; }
        int before() { return super::before() + 1; } }
    yamba t {
        import(of_that);
        int guess() { return 1; }
        native { struct own_struct : yamba_of_that { int lone() { return 6; } }; own_struct mine; }
        void benchmark() {}
        evidence int a() expects [2, 2] { return of_that.own(); }
        evidence int b() expects [25, 25] { return of_that.both(); }
        evidence int c() expects [2, 2] { return of_that.through(); }
        evidence int d() expects [2, 2] { return of_that.before(); }
        evidence int e() expects [26, 26] { return mine.both(); } }";
    let built = build(text, "t", "x86_64");
    let output = run(&built, &["--quick"]);
    let records = String::from_utf8_lossy(&output.stdout);
    let values = [("a", 2), ("b", 25), ("c", 2), ("d", 2), ("e", 26)];
    for (name, value) in values {
        let seen = format!("\"{name}\":{value}");
        assert!(records.contains(&seen), "{seen} is not in {records}");
    }
}

/// Of what a pass runs, and of what that calls, nothing becomes another thing by being called in another way.
#[test]
fn only_what_no_pass_runs_ceases_to_be_virtual() {
    if !available("x86_64") {
        return;
    }
    let text = "yamba t {
        int step() { return 1; }
        int deep() { return step(); }
        int aside() { return 2; }
        void benchmark() { deep(); }
        evidence int a() { return aside(); } }";
    let built = build(text, "t", "x86_64");
    let source = std::fs::read_to_string(built.source).expect("the C++");
    let is_virtual = |name: &str| {
        let lines: Vec<&str> = source.lines().collect();
        let at = lines
            .iter()
            .position(|l| l.contains(&format!("{name}() {{ ")));
        let at = at.unwrap_or_else(|| panic!("{name} in {source}"));
        lines[at - 2].contains("virtual")
    };
    assert!(is_virtual("void benchmark") && is_virtual("int deep") && is_virtual("int step"));
    assert!(!is_virtual("int aside"));
}
