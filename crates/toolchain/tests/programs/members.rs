//! Declarations about members, tested in the programs that are built from them.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{build, build_faults, hex, run};

fn described(text: &str, class: &str) -> Vec<Value> {
    let built = build(text, class, "x86_64");
    let output = run(&built, &["--describe"]);
    let program: Value = serde_json::from_slice(&output.stdout).expect("a description");
    program["parameters"].as_array().expect("a list").clone()
}

#[test]
#[ignore = "needs g++"]
fn subclass_sets_value_and_sweep() {
    let text = "yamba abstract t {
        param int scale = 1 over {1, 2} quick {1};
        param int size = 4 * scale quick {3};
        void benchmark() {} }
    yamba a extends t { scale = 8 over linear(scale, 2 * scale, 8); size over {5} quick {6}; }
    yamba b extends t { scale = 16; }";
    let shown = |class: &str| -> Vec<Value> {
        let each = described(text, class).into_iter();
        each.map(|p| json!([p["name"], p["value"], p["over"], p["quick"]])).collect()
    };
    assert_eq!(shown("a"), [json!(["scale", 8, [8, 16], null]), json!(["size", 32, [5], [6]])]);
    assert_eq!(shown("b"), [json!(["scale", 16, [1, 2], [1]]), json!(["size", 64, null, [3]])]);
}

/// Checked with the compiler's own macro. Measured code must be optimised whatever its tags. So
/// must classes that a cold class extends, and classes that extend it.
#[test]
#[ignore = "needs g++"]
fn cold_imports_are_not_optimised() {
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
    let values: Vec<Value> = described(&text, "a").iter().map(|p| p["value"].clone()).collect();
    assert_eq!(values, [json!(1), json!(0), json!(0), json!(1), json!(1)]);
}

/// Member names that included system headers define as macros, and functions declared `const`.
#[test]
#[ignore = "needs g++"]
fn c_names_and_functions_are_accepted() {
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

/// Each form compiles without warnings, and state without an initialiser is zero.
#[test]
#[ignore = "needs g++"]
fn members_of_cpp_classes_are_accepted() {
    let text = "native {
        #include <atomic>
        #include <functional>
        #include <map>
        #include <vector>
    }
    yamba t {
        struct alignas(64) Line { long value; };
        Line line;
        std::vector<int> a, b;
        std::map<int, std::vector<int>> tree, *other = &tree, few[2];
        [[maybe_unused]] int unused;
        alignas(64) int low = 1, high{2}, none;
        enum class Colour : uint8_t { red, green };
        Colour colour = Colour::green;
        using Lines = std::vector<Line>;
        typedef int (*Callback)(int);
        Callback callback;
        constexpr static int sizes[] = {1, 2, 3};
        static inline int shared = 4;
        static_assert(sizeof(Line) == 64, \"; {\");
        struct { int x, y; } point;
        template <typename T, int N = (3 > 2)> struct Few { T x[N]; };
        Few<int> ones{{5}};
        template <typename T> T twice(T x) { return x + x; }
        bool operator==(int x) { return x == low; }
        std::function<int()> f{[] { int x = 6; return x; }};
        bool less = low < high, more = high > 3;
        evidence int sum() {
            return low + high + none + twice(shared) + sizes[2] + point.x + point.y + ones.x[0] + f() + int(line.value)
                + int(a.size() + b.size()) + (*this == 1) + less + more + int(colour) + (callback == nullptr) + (other == &tree)
                + int(few[0].size());
        }
        void benchmark() {} }";
    let built = build(text, "t", "x86_64");
    let output = run(&built, &["--run", "--batches", "1", "--time-ns", "0", "--no-lock"]);
    let records = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{records}");
    assert!(records.contains("\"evidence\":{\"sum\":30}"), "{records}");
}

/// An error in the second name of a declaration is shown there.
#[test]
#[ignore = "needs g++"]
fn error_in_a_further_name_has_its_place() {
    let text = "yamba t {\n    int a = 1, b = none_such;\n    struct S { gone x; };\n    void benchmark() {} }";
    let (found, shown) = build_faults(text, "t", "x86_64");
    assert_eq!(found.len(), 2, "{shown}");
    assert!(shown.contains("test.yamba:2:20"), "{shown}");
    assert!(shown.contains("test.yamba:3:16"), "{shown}");
}

#[test]
#[ignore = "needs g++"]
fn const_native_function_error_has_help() {
    let text = "yamba t { native { uint64_t f() const { return operations(); } } void benchmark() { (void)f(); } }";
    let (_, shown) = build_faults(text, "t", "x86_64");
    assert!(shown.contains("leave `const` out"), "{shown}");
}

/// Each process knows its index, and any process can skip a point.
#[test]
#[ignore = "needs g++"]
fn one_of_several_processes_can_skip_a_point() {
    let text = "yamba t {
        param uint64_t bad = 99;
        void prepare() { if (process != 0) yamba::fail(\"it has not started\"); }
        void setup() { if (process == bad) yamba::skip(\"%d of %d\", int(process), int(processes)); }
        void benchmark() {}
        evidence uint64_t own() { return process; } }";
    let built = build(text, "t", "x86_64");
    let launch = |bad: &str, processes: &str| {
        let brief =
            "--run --batches 1 --time-ns 0 --warmup-ns 0 --loaded-ns 1000 --no-lock --processes";
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
    assert!(out.contains("\"own\":0") && out.contains("\"own\":1"), "{out}");
    assert_eq!(launch("1", "2").0, Some(4));
    assert_eq!(launch("1", "2").1, "1 of 2\n");
    assert_eq!(launch("0", "1").1, "0 of 1\n");
}

/// Whichever functions are virtual in the C++, a call reaches the most derived definition: from a
/// base, a template, a loop, a macro, a bitstring, or the author's own struct.
#[test]
#[ignore = "needs g++"]
fn call_uses_most_derived_definition() {
    let text = "native {
        #define HOOK(name) name##_hook()
        template <class T> int reach(T &of) { return of.reached(); }
    }
    yamba abstract part extends Part {
        int own() { return 1; }
        int lone() { return 5; }
        int called() { return 1; }
        int both() { return called() * 10 + lone(); }
        int reached() { return 1; }
        int through() { return reach(*this); }
        int before() { return 1; }
        int my_hook() { return 1; }
        int hooked() { return HOOK(my); }
        int numbers[3] = {1, 2, 4};
        int *begin() { return numbers; }
        int *end() { return numbers + 1; }
        int sum() { int sum = 0; for (int n : *this) sum += n; return sum; }
        bitstring some { 0x01 }
        bitstring<int c_function()> all { 0xB8 some 0x000000 0xC3 } }
    yamba of_that extends part {
        int own() { return 2; }
        int called() { return 2; }
        int reached() { return 2; }
        int before() { return super::before() + 1; } }
    yamba of_that_port ports of_that on linux {
        int my_hook() { return 2; }
        int *end() { return numbers + 3; }
        bitstring some { 0x02 } }
    yamba t {
        import(of_that);
        native { struct own_struct : yamba_of_that { int lone() { return 6; } }; own_struct mine; }
        void benchmark() {}
        evidence int a() { return of_that.own(); }
        evidence int b() { return of_that.both(); }
        evidence int c() { return of_that.through(); }
        evidence int d() { return of_that.before(); }
        evidence int e() { return mine.both(); }
        evidence int f() { return of_that.hooked(); }
        evidence int g() { return of_that.sum(); }
        evidence int h() { auto held = of_that.all(); return held(); } }";
    let expected = [2, 25, 2, 2, 26, 2, 7, 2];
    has_values(text, &expected);
    // Also without token pasting, which would make all functions virtual.
    has_values(&text.replace("name##_hook", "my_hook"), &expected);
}

/// Asserts the values of the evidence `a`, `b` and so on of class `t`.
fn has_values(text: &str, values: &[i32]) {
    let built = build(text, "t", "x86_64");
    let output = run(&built, &["--quick"]);
    let records = String::from_utf8_lossy(&output.stdout);
    for (name, value) in ('a'..).zip(values) {
        let seen = format!("\"{name}\":{value}");
        assert!(records.contains(&seen), "{seen} is not in {records}");
    }
}

/// The author's own structs redefine members under names that come from a macro, a function or a
/// header.
#[test]
#[ignore = "needs g++"]
fn structs_redefine_members_through_macros_functions_and_headers() {
    let header = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mixin.h");
    std::fs::write(&header, "template <class T> struct mixin : T { int lone() { return 6; } };\n")
        .expect("a header");
    let included =
        format!("#include \"{}\"\n using own_struct = mixin<yamba_part>;", header.display());
    let as_if_systems =
        format!("#include <{}>\n using own_struct = mixin<yamba_part>;", header.display());
    for native in [
        &as_if_systems,
        "struct own_struct : yamba_part { int __CONCAT(lo, ne)() { return 6; } };",
        "struct own_struct : yamba_part { int lo\\\nne() { return 6; } };",
        "#define JOINED(a, b) a##b\n struct own_struct : yamba_part { int JOINED(lo, ne)() { return 6; } };",
        "struct own_struct : yamba_part { LONE };",
        &included,
        "static constexpr const char *odd = u8R\"(one \" here)\";\n struct own_struct : yamba_part { int lone() { return 6; } };",
    ] {
        let text = format!(
            "yamba part extends Part {{
                int lone() {{ return 5; }}
                int two() {{
                    #define LONE int lone() {{ return 6; }}
                    return 2 * lone(); }} }}
            yamba t {{
                import(part);
                native {{
                    {native}
                    own_struct mine; }}
                void benchmark() {{}}
                evidence int a() {{ return mine.two(); }} }}"
        );
        has_values(&text, &[12]);
    }
}

/// A bitstring's text is not C++: an apostrophe in it does not start a character literal.
#[test]
#[ignore = "needs g++"]
fn call_after_apostrophe_in_assembler_text_is_found() {
    let text = "yamba abstract t {
        int number() { return 1; }
        bitstring both { asm {
            nop  # it's one
            mov eax, ${number()}
        } }
        void benchmark() {} }
    yamba t_port ports t on x86_64 { int number() { return 2; } }";
    let built = build(text, "t", "x86_64");
    assert_eq!(hex(&built, "both", &[]), "90B802000000");
}

/// `override` and `final` require virtual functions.
#[test]
#[ignore = "needs g++"]
fn function_may_be_marked_override() {
    let text = "yamba abstract base extends Latency { int kind() { return 1; } }
    yamba t extends base {
        void setup() override {}
        int kind() override { return 2; }
        int last() final { return 3; }
        void benchmark() {}
        evidence int a() { return kind(); }
        evidence int b() { return last(); } }";
    has_values(text, &[2, 3]);
}

/// A function that a pass runs stays virtual, also if it is called, composed or received
/// indirectly. Other functions become non-virtual.
#[test]
#[ignore = "needs g++"]
fn only_functions_outside_the_pass_lose_virtual() {
    let text = "native { #include <functional> }
    yamba t {
        int step() { return 1; }
        int deep() { return step(); }
        int index() { return 3; }
        int held() { return 4; }
        int aside() { return 2; }
        bitstring<int c_function()> give { 0xB8 le(index(), 32) 0xC3 }
        std::function<int()> holder = [this] { return held(); };
        void benchmark() { deep(); give()(); holder(); }
        evidence int a() { return aside(); } }";
    let built = build(text, "t", "x86_64");
    let source = std::fs::read_to_string(built.source).expect("the C++");
    let is_virtual = |name: &str| {
        let lines: Vec<&str> = source.lines().collect();
        let at = lines.iter().position(|l| l.contains(&format!("{name}() {{ ")));
        let at = at.unwrap_or_else(|| panic!("{name} in {source}"));
        lines[at - 2].contains("virtual")
    };
    for name in ["void benchmark", "int deep", "int step", "int index", "int held"] {
        assert!(is_virtual(name), "{name} in {source}");
    }
    assert!(!is_virtual("int aside"), "{source}");
}

/// An emulator emulates a processor that the host's /proc/cpuinfo does not describe.
#[test]
#[ignore = "needs aarch64-linux-gnu-g++ and qemu-aarch64"]
fn feature_of_aarch64_is_that_of_the_emulated_processor() {
    let text = "
        yamba steps { void benchmark() {} bitstring step = 0x00; bitstring go() { step } }
        yamba steps_simd ports steps on aarch64 && cpu(asimd) { bitstring step = 0x01; }
        yamba steps_rare ports steps_simd on cpu(no_such_feature) { bitstring step = 0x02; }
    ";
    let built = build(text, "steps", "aarch64");
    assert_eq!(hex(&built, "go", &[]), "01");
}
