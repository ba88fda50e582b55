import com.github.javaparser.JavaParser;
import com.github.javaparser.ast.CompilationUnit;
import java.util.ArrayList;
import java.util.List;

/** JavaParser: parses sources, and keeps the last trees. */
public class Sources {
    public static void main(String[] arguments) {
        JavaParser parser = new JavaParser();
        List<CompilationUnit> kept = new ArrayList<>();
        long length = 0;
        for (int i = 0; i < 150; i++) {
            StringBuilder source = new StringBuilder("class C" + i + " {\n");
            for (int k = 0; k < 150; k++) {
                source.append("int m").append(k).append("(int a, int b) { for (int i = 0; i < a; i++) { if (i % ").append(k + 2).append(" == b) { b += m(i, a * 2); } } return a + b; }\n");
            }
            CompilationUnit unit = parser.parse(source.append("int m(int a, int b) { return a; } }").toString()).getResult().orElseThrow();
            length += unit.getTypes().size();
            kept.add(unit);
            if (kept.size() > 12) {
                kept.remove(0);
            }
        }
        System.out.println(length);
    }
}
