package programs;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Random;

/** H2 in memory: inserts, and queries with joins, groups and texts. */
public final class Database {
    private Database() {}

    public static void main(String[] arguments) throws SQLException {
        int rounds = Integer.parseInt(arguments[0]);
        Random random = new Random(2);
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:test")) {
            connection.createStatement().execute("create table person(id int primary key, name varchar, city varchar, born date)");
            connection.createStatement().execute("create table sale(id int primary key, person int, amount decimal(10, 2), note varchar)");
            connection.createStatement().execute("create index sale_person on sale(person)");
            fill(connection, random);
            long sum = 0;
            for (int round = 0; round < rounds; round++) {
                sum += query(connection, random);
            }
            System.out.println(sum);
        }
    }

    private static void fill(Connection connection, Random random) throws SQLException {
        try (PreparedStatement person = connection.prepareStatement("insert into person values (?, ?, ?, dateadd(day, ?, date '1970-01-01'))");
                PreparedStatement sale = connection.prepareStatement("insert into sale values (?, ?, ?, ?)")) {
            for (int i = 0; i < 5000; i++) {
                person.setInt(1, i);
                person.setString(2, Data.word(random) + " " + Data.word(random));
                person.setString(3, Data.word(random).substring(0, 2));
                person.setInt(4, random.nextInt(18000));
                person.execute();
            }
            for (int i = 0; i < 20000; i++) {
                sale.setInt(1, i);
                sale.setInt(2, random.nextInt(5000));
                sale.setBigDecimal(3, java.math.BigDecimal.valueOf(random.nextInt(100000), 2));
                sale.setString(4, Data.sentence(random, 6));
                sale.execute();
            }
        }
    }

    private static long query(Connection connection, Random random) throws SQLException {
        long sum = 0;
        String word = Data.word(random);
        String[] queries = {
            "select city, count(*), sum(amount) from person join sale on person.id = sale.person group by city order by 3 desc",
            "select count(*) from sale where note like '%" + word + "%'",
            "select upper(name), year(born) from person where id between " + random.nextInt(4000) + " and 4500 order by name",
        };
        for (String query : queries) {
            try (ResultSet result = connection.createStatement().executeQuery(query)) {
                while (result.next()) {
                    sum += result.getString(1).length();
                }
            }
        }
        return sum;
    }
}
