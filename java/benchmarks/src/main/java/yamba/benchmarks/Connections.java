package yamba.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** Connections over the loopback, with their end. */
public class Connections extends Measured {
    ServerSocket server;

    @Setup
    public void setup() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    @TearDown
    public void end() throws IOException {
        server.close();
    }

    /** The client closes with a reset, so that no port waits. */
    @Benchmark
    @Primitive("java.net.Socket.<init>(InetAddress,int)")
    public boolean connect() throws IOException {
        try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort()); Socket accepted = server.accept()) {
            client.setSoLinger(true, 0);
            return accepted.isConnected();
        }
    }
}
