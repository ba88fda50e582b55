package programs;

import java.io.StringReader;
import java.util.Random;
import javax.xml.transform.stream.StreamSource;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.SaxonApiException;
import net.sf.saxon.s9api.XQueryEvaluator;
import net.sf.saxon.s9api.XQueryExecutable;

/** Saxon: XML to trees, and XQuery over them. */
public final class Query {
    private static final String TEXT = "for $b in //book let $w := tokenize($b/title, ' ') where contains($b/note, 'a') group by $k := substring($w[1], 1, 2) "
            + "order by $k return <k n='{$k}' c='{count($b)}'>{string-join(distinct-values($b/@year), ',')}{upper-case($b[1]/title)}</k>";

    private Query() {}

    public static void main(String[] arguments) throws SaxonApiException {
        int rounds = Integer.parseInt(arguments[0]);
        Random random = new Random(5);
        StringBuilder xml = new StringBuilder("<books>");
        for (int i = 0; i < 2000; i++) {
            xml.append("<book year='").append(1900 + random.nextInt(120)).append("'><title>").append(Data.sentence(random, 4));
            xml.append("</title><note>").append(Data.sentence(random, 15)).append("</note></book>");
        }
        String text = xml.append("</books>").toString();
        Processor processor = new Processor(false);
        XQueryExecutable query = processor.newXQueryCompiler().compile(TEXT);
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            XQueryEvaluator evaluator = query.load();
            evaluator.setContextItem(processor.newDocumentBuilder().build(new StreamSource(new StringReader(text))));
            sum += evaluator.evaluate().toString().length();
        }
        System.out.println(sum);
    }
}
