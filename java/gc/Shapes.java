/**
 * Allocates chunks of objects of one shape and size. A window of the newest chunks is live.
 *
 * With the shape `random`, single objects are replaced in random order. With `stores`, old nodes
 * stay, and each refers to a node that is replaced.
 *
 * Arguments: SHAPE OBJECT_BYTES WINDOW_BYTES TOTAL_BYTES EXPLICIT_COLLECTIONS. A chunk has no
 * reference to another chunk, so that a dead chunk in the old
 * generation keeps no other chunk alive.
 */
public class Shapes {
    private static final int CHUNK_BYTES = 64 << 10;
    /** Header, two references with compressed pointers, and 4 bytes: 24 bytes. */
    private static final int NODE_BYTES = 24;
    private static Object sink;

    private static class Node {
        Node left;
        Node right;
        Object payload;
    }

    public static void main(String[] arguments) {
        String shape = arguments[0];
        if (shape.equals("random")) {
            replaceAtRandom(arguments);
            return;
        }
        if (shape.equals("stores")) {
            storeIntoNodes(arguments);
            return;
        }
        int objectBytes = Integer.parseInt(arguments[1]);
        int slots = (int) (Long.parseLong(arguments[2]) / CHUNK_BYTES);
        long chunks = Long.parseLong(arguments[3]) / CHUNK_BYTES;
        Object[] window = new Object[Math.max(1, slots)];
        for (long i = 0; i < chunks; i++) {
            Object chunk = chunk(shape, objectBytes);
            window[(int) (i % window.length)] = slots == 0 ? null : chunk;
            sink = chunk;
        }
        sink = null;
        collect(arguments);
        if (window.length != Math.max(1, slots)) {
            throw new IllegalStateException();
        }
    }

    private static void collect(String[] arguments) {
        for (int i = Integer.parseInt(arguments[4]); i > 0; i--) {
            System.gc();
        }
    }

    /**
     * A table whose nodes are replaced in random order: neighbours in memory are not neighbours in
     * the table, and young nodes are referred to from all over the table.
     */
    private static void replaceAtRandom(String[] arguments) {
        int objectBytes = Integer.parseInt(arguments[1]);
        // 4 bytes of the table belong to each node.
        Object[] table = new Object[(int) (Long.parseLong(arguments[2]) / (objectBytes + 4))];
        long state = 1;
        for (int i = 0; i < table.length; i++) {
            table[i] = node(objectBytes);
        }
        for (long i = Long.parseLong(arguments[3]) / objectBytes - table.length; i > 0; i--) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            table[(int) ((state >>> 33) % table.length)] = node(objectBytes);
        }
        collect(arguments);
        if (table.length == 0) {
            throw new IllegalStateException();
        }
    }

    /**
     * Half of the live objects are nodes that stay. Stores in random order replace the other half,
     * so that cards of old nodes become dirty.
     */
    private static void storeIntoNodes(String[] arguments) {
        int objectBytes = Integer.parseInt(arguments[1]);
        Node[] table = new Node[(int) (Long.parseLong(arguments[2]) / (2 * objectBytes + 4))];
        for (int i = 0; i < table.length; i++) {
            table[i] = node(objectBytes);
            table[i].left = node(objectBytes);
        }
        long state = 1;
        for (long i = Long.parseLong(arguments[3]) / objectBytes - 2L * table.length; i > 0; i--) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            table[(int) ((state >>> 33) % table.length)].left = node(objectBytes);
        }
        collect(arguments);
        if (table.length == 0) {
            throw new IllegalStateException();
        }
    }

    private static Object chunk(String shape, int objectBytes) {
        int count = CHUNK_BYTES / objectBytes;
        return switch (shape) {
            case "list" -> list(count, objectBytes);
            case "tree" -> tree(count, objectBytes);
            case "array" -> array(count, objectBytes);
            case "fan-in" -> fanIn(count, objectBytes);
            case "bytes" -> array(count, objectBytes);
            default -> throw new IllegalArgumentException(shape);
        };
    }

    private static Node node(int objectBytes) {
        Node node = new Node();
        if (objectBytes > NODE_BYTES) {
            node.payload = new byte[objectBytes - NODE_BYTES - 16];
        }
        return node;
    }

    private static Object list(int count, int objectBytes) {
        Node head = null;
        for (int i = 0; i < count; i++) {
            Node node = node(objectBytes);
            node.left = head;
            head = node;
        }
        return head;
    }

    private static Node tree(int count, int objectBytes) {
        Node node = node(objectBytes);
        int below = count - 1;
        if (below / 2 > 0) {
            node.left = tree(below / 2, objectBytes);
        }
        if (below - below / 2 > 0) {
            node.right = tree(below - below / 2, objectBytes);
        }
        return node;
    }

    private static Object array(int count, int objectBytes) {
        Object[] array = new Object[count];
        for (int i = 0; i < count; i++) {
            array[i] = new byte[objectBytes - 16];
        }
        return array;
    }

    /** All nodes refer to two nodes of the chunk. */
    private static Object fanIn(int count, int objectBytes) {
        Object[] array = new Object[count];
        Node shared = node(objectBytes);
        for (int i = 0; i < count; i++) {
            Node node = node(objectBytes);
            node.left = shared;
            node.right = shared;
            array[i] = node;
        }
        return array;
    }
}
