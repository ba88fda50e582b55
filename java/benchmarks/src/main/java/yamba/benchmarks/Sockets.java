package yamba.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** TCP over the loopback, with both ends in one thread. */
public class Sockets extends Measured {
    @Param({"64", "8192"})
    int size;

    ServerSocket server;
    Socket client;
    Socket accepted;
    OutputStream output;
    InputStream input;
    byte[] bytes;

    @Setup
    public void setup() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        client = new Socket(server.getInetAddress(), server.getLocalPort());
        accepted = server.accept();
        client.setTcpNoDelay(true);
        output = client.getOutputStream();
        input = accepted.getInputStream();
        bytes = Text.bytes(size);
    }

    @TearDown
    public void end() throws IOException {
        client.close();
        accepted.close();
        server.close();
    }

    /** A message is written at one end and read at the other: the mean of both. */
    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive(value = {"java.net.Socket$SocketInputStream.read(byte[],int,int)", "java.net.Socket$SocketOutputStream.write(byte[],int,int)"}, size = "2")
    public int message() throws IOException {
        output.write(bytes, 0, size);
        int read = 0;
        while (read < size) {
            read += input.read(bytes, read, size - read);
        }
        return read;
    }
}
