/** Products of matrices: few large arrays without references, in phases of different size. */
public class Matrices {
    public static void main(String[] arguments) {
        double sum = 0;
        for (int phase = 0; phase < 60; phase++) {
            int size = 100 + 25 * (phase % 5);
            double[][][] kept = new double[12][][];
            for (int i = 0; i < 120; i++) {
                kept[i % kept.length] = product(random(size, i), random(size, phase), size / 8);
            }
            sum += kept[3][1][1];
        }
        System.out.println(sum);
    }

    private static double[][] random(int size, int seed) {
        double[][] matrix = new double[size][size];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                matrix[i][j] = (i * 31 + j * 17 + seed) % 101;
            }
        }
        return matrix;
    }

    /** Only the first `depth` terms of each sum. */
    private static double[][] product(double[][] a, double[][] b, int depth) {
        int size = a.length;
        double[][] result = new double[size][size];
        for (int i = 0; i < size; i++) {
            for (int k = 0; k < depth; k++) {
                for (int j = 0; j < size; j++) {
                    result[i][j] += a[i][k] * b[k][j];
                }
            }
        }
        return result;
    }
}
