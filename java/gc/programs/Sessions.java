import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Sessions of users with their last events. Refinement was checked on this program; it is not in
 * the table.
 */
public class Sessions {
    record Event(int kind, String text) {}

    static class Session {
        final ArrayDeque<Event> last = new ArrayDeque<>();
        String state = "";
        Event longest;
    }

    public static void main(String[] arguments) {
        Map<Integer, Session> sessions = new HashMap<>();
        long state = 7;
        long sum = 0;
        for (int i = 0; i < 4_000_000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int user = (int) ((state >>> 33) % 30_000);
            Session session = sessions.computeIfAbsent(user, k -> new Session());
            Event event = new Event((int) (state >>> 60), "event " + (state >>> 50));
            session.last.addLast(event);
            if (session.last.size() > 6) {
                sum += session.last.removeFirst().kind();
            }
            if (session.longest == null || event.text().length() >= session.longest.text().length()) {
                session.longest = event;
            }
            if (i % 50_000 == 0) {
                sessions.remove(user);
            }
        }
        System.out.println(sum);
    }
}
