import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Jackson: writes documents, reads them, and changes their trees. */
public class Documents {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        JsonNode[] kept = new JsonNode[8];
        long length = 0;
        for (int i = 0; i < 120; i++) {
            ObjectNode root = mapper.createObjectNode();
            ArrayNode items = root.putArray("items");
            for (int k = 0; k < 4000; k++) {
                items.addObject().put("id", k).put("name", "item " + k).put("price", k * 1.5).putArray("tags").add("a" + k % 7).add("b" + i);
            }
            String text = mapper.writeValueAsString(root);
            JsonNode read = mapper.readTree(text);
            kept[i % kept.length] = read;
            length += text.length() + read.get("items").size();
        }
        System.out.println(length + kept.length);
    }
}
