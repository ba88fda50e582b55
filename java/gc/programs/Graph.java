import java.util.ArrayList;
import java.util.List;

/**
 * A graph that grows to its size and then replaces random nodes: old objects refer to young ones.
 */
public class Graph {
    private static final int NODES = 400_000;

    private static class Node {
        Node[] neighbours = new Node[3];
        long value;
    }

    public static void main(String[] arguments) {
        Node[] nodes = new Node[NODES];
        long state = 1;
        long sum = 0;
        for (int i = 0; i < 5_000_000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            Node node = new Node();
            node.value = state;
            for (int k = 0; k < 3; k++) {
                Node other = nodes[(int) ((state >>> (33 - k)) % NODES)];
                // A chain of replaced nodes must not stay alive.
                node.neighbours[k] = other == null || other.value % 4 != 0 ? null : new Node();
            }
            nodes[(int) ((state >>> 33) % NODES)] = node;
            List<Long> path = new ArrayList<>();
            for (Node at = node; at != null; at = at.neighbours[0]) {
                path.add(at.value);
            }
            sum += path.size();
        }
        System.out.println(sum);
    }
}
