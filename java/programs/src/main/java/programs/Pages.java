package programs;

import java.util.Random;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;

/** jsoup: pages to trees, selections, and trees to text. */
public final class Pages {
    private Pages() {}

    public static void main(String[] arguments) {
        int rounds = Integer.parseInt(arguments[0]);
        Random random = new Random(7);
        StringBuilder page = new StringBuilder("<html><head><title>t</title></head><body>");
        for (int i = 0; i < 300; i++) {
            page.append("<div class='c").append(i % 7).append("'><p>").append(Data.sentence(random, 20)).append(" &amp; <b>").append(Data.word(random));
            page.append("</b><a href='/page").append(i).append("'>").append(Data.word(random)).append("</a></p></div>");
        }
        String text = page.append("</body></html>").toString();
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            Document document = Jsoup.parse(text, "http://example.org/");
            for (Element link : document.select("div.c3 a[href]")) {
                sum += link.absUrl("href").length() + link.text().length();
            }
            sum += document.body().html().length();
        }
        System.out.println(sum);
    }
}
