//! Parsing of valid texts: every form of the language with its tree.

#[path = "support/tree.rs"]
mod tree;

use yamba_lang::source::SourceMap;

/// Checks that `input` parses without messages to the tree `expect`, line by line without
/// indentation.
#[track_caller]
fn check(input: &str, expect: &str) {
    let mut sources = SourceMap::default();
    let file = sources.add("t.yamba", input);
    let (tree, diagnostics) = yamba_lang::syntax::parse(&sources, file);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let tidy = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|l| l.trim().to_owned());
        lines.filter(|l| !l.is_empty()).collect()
    };
    assert_eq!(tidy(&tree::print(&sources, &tree)), tidy(expect));
}

/// Checks the tree of a class with these members.
#[track_caller]
fn check_members(members: &str, expect: &str) {
    check(&format!("yamba c {{ {members} }}"), &format!("class c\n{expect}"));
}

/// Checks the tree of a bitstring with these terms.
#[track_caller]
fn check_terms(terms: &str, expect: &str) {
    check_members(&format!("bitstring b {{ {terms} }}"), &format!("bitstring b()\n{expect}"));
}

#[test]
fn headers() {
    check("yamba a {}", "class a");
    check("yamba a {};", "class a");
    check("\u{feff}yamba a\r\n{\r\n}\r\n", "class a");
    check("yamba abstract a extends b {}", "abstract class a extends b");
    check("yamba a extends nothing {}", "class a extends nothing");
    check("yamba a extends b on linux {}", "class a extends b on linux");
    check("yamba a on linux extends b {}", "class a extends b on linux");
    check("yamba a ports b on x86_64 {} yamba c {}", "class a ports b on x86_64\nclass c");
}

#[test]
fn conditions() {
    let check = |on: &str, expect: &str| {
        check(&format!("yamba a on {on} {{}}"), &format!("class a on {expect}"))
    };
    check("a && b || c && !d", "((a && b) || (c && !d))");
    check("a && (b || c)", "(a && (b || c))");
    check("!(!a)", "!!a");
    check("linux >= 6.1", "linux>=[6, 1]");
    check("linux >= 6", "linux>=[6]");
    check("linux < 6.12.3", "(linux && !linux>=[6, 12, 3])");
    check("root && cpu(avx512f)", "(root && cpu:avx512f)");
    check("file(\"/dev/kvm\")", "file:/dev/kvm");
}

#[test]
fn documentation() {
    check(
        "/// Of a,\n///   two lines.\nyamba a\n{\n  /// before\n  int x;  /// behind\n  /// of y\n\n  // not this\n  //// nor this\n  /// still y\n  int y;\n}",
        "/// Of a,\n///   two lines.\nclass a\n/// before\n/// behind\nstate \"int\" x\n/// of y\n/// still y\nstate \"int\" y",
    );
    check(
        "/// Of a.\nnative { int q; }\nyamba a { /// more of a\n int x; int y; /// of y\n void f() {\n } /// of f\n}",
        "native \" int q; \"\n/// Of a.\n/// more of a\nclass a\nstate \"int\" x\n/// of y\nstate \"int\" y\n/// of f\nfunction \"void\" f() body \"\\n \"",
    );
}

#[test]
fn native_code_is_verbatim() {
    check_members(
        "void f() { if (x) { } \"}\" '}' R\"d(} )\" )d\" 1'000 /* } */ // }\n }",
        "function \"void\" f() body \" if (x) { } \\\"}\\\" '}' R\\\"d(} )\\\" )d\\\" 1'000 /* } */ // }\\n \"",
    );
    check_members(
        "native { \"a\\\"}\" u8R\"(})\" L'\\'' }",
        "native \" \\\"a\\\\\\\"}\\\" u8R\\\"(})\\\" L'\\\\'' \"",
    );
    check_members("native {\n#error don't\n}", "native \"\\n#error don't\\n\"");
    check_members("native { // joined \\\n } \n }", "native \" // joined \\\\\\n } \\n \"");
}

#[test]
fn state_and_values() {
    check_members("int x;", r#"state "int" x"#);
    check_members(
        "unsigned long long *x = f(1, 2);",
        r#"state "unsigned long long *" x init "f(1, 2)""#,
    );
    check_members("int x[4][N] = {1, 2};", r#"state "int" x array "[4][N]" init "{1, 2}""#);
    check_members("std::array<int, 4> x{};", r#"state "std::array<int, 4>" x init "{}""#);
    check_members("Code<void(byte_t **)> x;", r#"state "Code<void(byte_t **)>" x"#);
    check_members(
        "std::vector<std::pair<int, A<(1>2)>>> x;",
        r#"state "std::vector<std::pair<int, A<(1>2)>>>" x"#,
    );
    check_members(
        "struct timespec x; struct stat y{};",
        "state \"struct timespec\" x\nstate \"struct stat\" y init \"{}\"",
    );
    check_members("alignas(64) char x[64];", r#"state "alignas(64) char" x array "[64]""#);
    check_members("[[maybe_unused]] int x;", r#"state "[[maybe_unused]] int" x"#);
    check_members(
        "void (*x)(int, char) = nullptr;",
        r#"state "void (*" x array ")(int, char)" init "nullptr""#,
    );
    check_members("x = 1 << 2;", r#"assign x = "1 << 2""#);
    check_members("x = 1 over {1, 2} quick {2};", r#"assign x = "1" over {"1", "2"} quick {"2"}"#);
    check_members(
        "x over log(1, 8, 2); y quick {3};",
        "assign x over log(\"1\", \"8\", \"2\")\n  assign y quick {\"3\"}",
    );
    check_members("int over = 3;", r#"state "int" over init "3""#);
    check_members("int quick;", r#"state "int" quick"#);
    check_members("void over(int);", r#"function "void" over("int" _)"#);
    check_members("int class;", r#"state "int" class"#);
}

#[test]
fn functions() {
    check_members("void f();", r#"function "void" f()"#);
    check_members(
        "static inline uint64_t\nf(void) { }",
        "function \"static inline uint64_t\" f() body \" \"",
    );
    check_members("int f(int) const noexcept;", r#"function "int" f("int" _) "const noexcept""#);
    check_members(
        "auto f() -> std::pair<int, int> { return {}; }",
        r#"function "auto" f() "-> std::pair<int, int>" body " return {}; ""#,
    );
    check_members(
        "void f(unsigned int, const foo &x, int a[4], void (*g)(int, int), std::map<int, int> m, char (&b)[2], void (*)(int));",
        r#"function "void" f("unsigned int" _, "const foo &" x, "int" a "[4]", "void (*" g ")(int, int)", "std::map<int, int>" m, "char (&" b ")[2]", "void (*)(int)" _)"#,
    );
    check_members(
        "void f(foo, std::string, const x);",
        r#"function "void" f("foo" _, "std::string" _, "const x" _)"#,
    );
}

#[test]
fn parameters() {
    check_members("param int a;", r#"param "int" a"#);
    check_members("param size_t a = 64 << 20;", r#"param "size_t" a = "64 << 20""#);
    check_members("param int a over {1};", r#"param "int" a over {"1"}"#);
    check_members(
        "param int a = f(over, 1) over {16, g(1, 2),};",
        r#"param "int" a = "f(over, 1)" over {"16", "g(1, 2)"}"#,
    );
    check_members(
        "param int a = 1 over log(p.x / 2, 4 * p.y, 4) quick {1, 2};",
        r#"param "int" a = "1" over log("p.x / 2", "4 * p.y", "4") quick {"1", "2"}"#,
    );
    check_members(
        "param int a = 1 over linear(1, 9, 2);",
        r#"param "int" a = "1" over linear("1", "9", "2")"#,
    );
    check_members("param const char *a = \"over; \";", r#"param "const char *" a = "\"over; \"""#);
}

#[test]
fn several_names_are_as_many_members() {
    check_members(
        "std::vector<std::pair<int, int>> a, b;",
        "state \"std::vector<std::pair<int, int>>\" a\nstate \"std::vector<std::pair<int, int>>\" b",
    );
    check_members(
        "\n/// both\nint *a = f<1, 2>(3), b[4] = {1, 2}, &c{d}, *const e = nullptr;",
        r#"/// both
        state "int *" a init "f<1, 2>(3)"
        /// both
        state "int" b array "[4]" init "{1, 2}"
        /// both
        state "int" c init "{d}"
        /// both
        state "int" e init "nullptr""#,
    );
    check_members(
        "bool a = x < y, b = z > 1; int c = (1, d), e;",
        r#"state "bool" a init "x < y"
        state "bool" b init "z > 1"
        state "int" c init "(1, d)"
        state "int" e"#,
    );
    check_members(
        "int a = std::is_same<int, b>::value;",
        r#"state "int" a init "std::is_same<int, b>::value""#,
    );
    check_members(
        "int (*rows)[4] = nullptr, n;",
        "state \"int (*\" rows array \")[4]\" init \"nullptr\"\nstate \"int\" n",
    );
}

#[test]
fn attributes_belong_to_the_type() {
    check_members(
        "[[maybe_unused]] int x; alignas(64) int y = 1; alignas(64) static constexpr int z{2};",
        r#"state "[[maybe_unused]] int" x
        state "alignas(64) int" y init "1"
        state "alignas(64) static constexpr int" z init "{2}""#,
    );
    check_members(
        "std::function<void()> f{[] { g(); h(); }};",
        r#"state "std::function<void()>" f init "{[] { g(); h(); }}""#,
    );
    check_members(
        "struct { int x, y; } point; const union U { int i; float f; } u = {1};",
        r#"state "struct { int x, y; }" point
        state "const union U { int i; float f; }" u init "{1}""#,
    );
}

#[test]
fn cpp_declarations_are_native() {
    for declaration in [
        "struct alignas(64) Line { long value; };",
        "struct [[gnu::packed]] A final : B, C<1> { void f() { g(); } };",
        "enum class colour : uint8_t { red, green };",
        "enum { few = 3, many };",
        "class __attribute__((packed)) D { int x; public: int y; };",
        "using number = std::map<int, std::vector<int>>;",
        "using Base::f;",
        "typedef int (*callback)(int, void *);",
        "typedef struct { int x; } T;",
        "template <typename T, int N = (3 > 2)> struct S { T x[N]; };",
        "template <typename T> T twice(T x) { return x + x; }",
        "template <class T> using V = std::vector<T>;",
        "template <class T> static constexpr T zero{0};",
        "bool operator==(const A<int, 2> &a) { return true; }",
        "operator bool() { return true; }",
        "static_assert(sizeof(int) == 4, \"; {\");",
        "friend void f();",
        "friend int g() { return 1; }",
    ] {
        let quoted = declaration.replace('"', "\\\"");
        check_members(
            &format!("int x; {declaration} int y;"),
            &format!("state \"int\" x\nnative \"{quoted}\"\nstate \"int\" y"),
        );
    }
}

/// A mutant of a class gives the members of the original beside the changed line, or an error.
#[test]
fn changed_members_do_not_change_others() {
    let text = "yamba c\n{\nint a = 1, b[2];\nstruct Line { long value; int n; };\nstd::map<int, std::vector<int>> m, k;\nalignas(64) std::atomic<int> y{5};\ntemplate <class T> T twice(T x) { return 2 * x; }\nusing N = int;\nvoid benchmark() { y = a; }\n}\n";
    let form =
        yamba_mutants::Form { separator: " ", fields: &["static", "*z,", "<int>", "= {3},", "q;"] };
    let read = |text: &str| {
        let mut sources = SourceMap::default();
        let file = sources.add("t.yamba", text);
        let (tree, diagnostics) = yamba_lang::syntax::parse(&sources, file);
        let shown = tree::print(&sources, &tree);
        (shown, diagnostics.is_empty())
    };
    let (whole, is_right) = read(text);
    assert!(is_right, "{whole}");
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.filter(|w| !w.is_empty()).map(str::to_owned).collect()
    };
    for mutant in yamba_mutants::text(text, form, 53, 10_000) {
        let (shown, is_right) = read(&mutant.text);
        if mutant.change.keeps_figures() {
            assert_eq!((shown, is_right), (whole.clone(), true), "{mutant:?}");
            continue;
        }
        if !is_right {
            continue;
        }
        // Everything that the text has is in the tree: nothing was skipped in silence.
        let found = words(&shown.replace("\\n", " "));
        let lost: Vec<String> = words(&mutant.text)
            .into_iter()
            .filter(|word| word != "yamba" && !found.contains(word))
            .collect();
        assert!(lost.is_empty(), "{mutant:?}: {lost:?}\n{shown}");
    }
}

#[test]
fn evidence_bounds_charts_tags_imports() {
    check_members("evidence double a();", r#"evidence "double" a"#);
    check_members(
        "evidence size_t a(void) expects [f(1, 2), b[3]] { return 1; }",
        r#"evidence "size_t" a expects "f(1, 2)", "b[3]" body " return 1; ""#,
    );
    check_members(
        "at_least 1 cycle; at_most 2 * x MB/s;",
        "at least \"1\" cycle\nat most \"2 * x\" MB/s",
    );
    check_members("at_least 3; at_most 2 spread;", "at least \"3\"\nat most \"2\" spread");
    check_members("chart latency against n;", "chart latency against n");
    check_members(
        "chart latency against n log by m fit linear;",
        "chart latency against n log by m fit",
    );
    check_members("tags net, demonstration;", "tags net demonstration");
    check_members("import(a); import(b)\nint x;", "import a\nimport b\nstate \"int\" x");
}

#[test]
fn bitstrings() {
    check_members("bitstring a;", "bitstring a() abstract");
    check_members("bitstring a(unsigned int i);", r#"bitstring a("unsigned int" i) abstract"#);
    check_members("bitstring a = 0x90;", "bitstring a()\nbits 10010000");
    check_members("bitstring a {}; bitstring b {}", "bitstring a()\nbitstring b()");
    check_members("bitstring<void c_function()> a;", r#"bitstring<"void" ()> a() abstract"#);
    check_members(
        "bitstring<std::pair<int, A<int>> c_function(std::map<int, int> *m, size_t)> a(int n) {}",
        r#"bitstring<"std::pair<int, A<int>>" ("std::map<int, int> *" m, "size_t" _)> a("int" n)"#,
    );
}

#[test]
fn literals_keep_all_bits() {
    check_terms(
        "0x0F 0b01 0x9'0 0X1 0B1'0",
        "bits 00001111\nbits 01\nbits 10010000\nbits 0001\nbits 10",
    );
}

#[test]
fn terms() {
    check_terms(
        "a b(1) C.d C.e(f(1, 2), 3) super::g super::h()",
        "use a\nuse b(\"1\")\nuse C.d\nuse C.e(\"f(1, 2)\", \"3\")\nuse super::g\nuse super::h()",
    );
    check_terms(
        "le(4 * i, 32) be(x, 5) bits(offset(a), 12, 1)",
        "le \"4 * i\", \"32\"\nbe \"x\", \"5\"\nslice \"offset(a)\", \"12\", \"1\"",
    );
    check_terms(
        "label a: rel(a, 8) align(16) abs(std::puts, 64)",
        "label a\nrel a \"8\"\nalign \"16\"\nabs \"std::puts\", \"64\"",
    );
    check_terms("word(32) { 0b1 x }", "word \"32\"\nbits 1\nuse x");
    check_terms(
        "unroll (unsigned int i = 0; i < m; i++) { touch(i) }",
        "unroll \"unsigned int i = 0\", \"i < m\", \"i++\"\nuse touch(\"i\")",
    );
    check_terms("unroll (; f(\";\");) { }", "unroll \"\", \"f(\\\";\\\")\", \"\"");
    check_terms(
        "if (a) { x } else if (b) { y } else { z }",
        "if \"a\"\nuse x\nelse\nif \"b\"\nuse y\nelse\nuse z",
    );
}

#[test]
fn assembly() {
    check_terms("asm { ret }", "asm\nline 1 \" ret \"");
    check_terms(
        "asm {\n mov eax, [ebx + ${4 * (i + '}')}] // gone }\n # kept; it's '}' kept\n /* two\n lines */ .ascii \"}//\"\n {x0}\n 1: jmp 1b }",
        "asm\nline 1 \"\\n mov eax, [ebx + \"\nhole \"4 * (i + '}')\"\nline 2 \"] \\n # kept; it's '}' kept\\n  \\n .ascii \\\"}//\\\"\\n {x0}\\n 1: jmp 1b \"",
    );
    check_terms("asm { ${a}${ b } }", "asm\nline 1 \" \"\nhole \"a\"\nhole \"b\"\nline 1 \" \"");
    check_terms("asm { mov $1, $x\r\n ret }", "asm\nline 1 \" mov $1, $x\\n ret \"");
}

#[test]
fn faulty_member_does_not_affect_others() {
    let mut sources = SourceMap::default();
    let text = "yamba a { int x; bitstring ; int y; } yamba b on { int z; }";
    let file = sources.add("t.yamba", text);
    let (tree, diagnostics) = yamba_lang::syntax::parse(&sources, file);
    assert_eq!(diagnostics.len(), 2, "{diagnostics:#?}");
    let expect = "class a\n  state \"int\" x\n  state \"int\" y\nclass b\n  state \"int\" z\n";
    assert_eq!(tree::print(&sources, &tree), expect);
}
