import org.mozilla.javascript.Context;
import org.mozilla.javascript.Scriptable;

/** Rhino: a JavaScript program with objects, closures and strings. */
public class Script {
    private static final String PROGRAM = """
            function Point(x, y) { this.x = x; this.y = y; }
            Point.prototype.add = function (o) { return new Point(this.x + o.x, this.y + o.y); };
            var seen = {}, sum = new Point(0, 0);
            for (var i = 0; i < 600000; i++) {
                var p = new Point(i, i * 2);
                sum = sum.add(p);
                if (i % 3 == 0) { seen['k' + (i % 30000)] = p; }
                var parts = [i, i + 1, i + 2].map(function (v) { return v * 2; });
                sum.x += parts.length;
            }
            sum.x;
            """;

    public static void main(String[] arguments) {
        Context context = Context.enter();
        try {
            Scriptable scope = context.initStandardObjects();
            System.out.println(context.evaluateString(scope, PROGRAM, "program", 1, null));
        } finally {
            Context.exit();
        }
    }
}
