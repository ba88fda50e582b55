package programs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Jackson: documents to trees, maps and back to text. */
public final class Json {
    private Json() {}

    public static void main(String[] arguments) throws IOException {
        int rounds = Integer.parseInt(arguments[0]);
        ObjectMapper mapper = new ObjectMapper();
        Random random = new Random(4);
        ArrayNode list = mapper.createArrayNode();
        for (int i = 0; i < 500; i++) {
            ObjectNode node = list.addObject();
            node.put("id", i).put("name", Data.sentence(random, 3)).put("price", random.nextInt(10000) / 100.0);
            node.put("note", Data.sentence(random, 20) + " \"quoted\"\n");
            node.putArray("tags").add(Data.word(random)).add(Data.word(random));
        }
        String text = mapper.writeValueAsString(list);
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            JsonNode tree = mapper.readTree(text);
            for (JsonNode node : tree) {
                sum += node.get("name").asText().length() + node.get("tags").size();
            }
            List<?> values = mapper.readValue(text, List.class);
            Map<String, Object> counts = new LinkedHashMap<>();
            for (Object value : values) {
                counts.merge(String.valueOf(((Map<?, ?>) value).get("id")).substring(0, 1), 1, (a, b) -> (Integer) a + (Integer) b);
            }
            sum += mapper.writeValueAsString(tree).length() + mapper.writeValueAsBytes(values).length + counts.size();
        }
        System.out.println(sum);
    }
}
