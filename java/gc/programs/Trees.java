/** Binary trees of several depths, beside one that lives throughout. */
public class Trees {
    private record Tree(Tree left, Tree right) {
        static Tree of(int depth) {
            return depth == 0 ? new Tree(null, null) : new Tree(of(depth - 1), of(depth - 1));
        }

        int count() {
            return left == null ? 1 : 1 + left.count() + right.count();
        }
    }

    public static void main(String[] arguments) {
        Tree permanent = Tree.of(19);
        long nodes = 0;
        for (int depth = 4; depth <= 18; depth += 2) {
            for (int i = 0; i < 1 << (22 - depth); i++) {
                nodes += Tree.of(depth).count();
            }
        }
        System.out.println(nodes + permanent.count());
    }
}
