import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** H2 in memory: inserts, updates and queries. */
public class Database {
    private static final int ROWS = 40_000;

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:test"); Statement statement = connection.createStatement()) {
            statement.execute("create table account(id int primary key, name varchar, balance bigint)");
            statement.execute("create table entry(id identity, account int, amount int)");
            statement.execute("create index entry_account on entry(account)");
            PreparedStatement account = connection.prepareStatement("insert into account values(?, ?, 0)");
            for (int i = 0; i < ROWS; i++) {
                account.setInt(1, i);
                account.setString(2, "account " + i);
                account.execute();
            }
            PreparedStatement entry = connection.prepareStatement("insert into entry(account, amount) values(?, ?)");
            PreparedStatement update = connection.prepareStatement("update account set balance = balance + ? where id = ?");
            PreparedStatement query = connection.prepareStatement("select account, amount from entry where account = ?");
            long sum = 0;
            for (int i = 0; i < 40_000; i++) {
                int id = (int) (i * 7919L % ROWS);
                entry.setInt(1, id);
                entry.setInt(2, i);
                entry.execute();
                update.setInt(1, i);
                update.setInt(2, id);
                update.execute();
                if (i % 20 == 0) {
                    query.setInt(1, id);
                    try (ResultSet rows = query.executeQuery()) {
                        while (rows.next()) {
                            sum += rows.getLong(2);
                        }
                    }
                }
            }
            System.out.println(sum);
        }
    }
}
