import java.io.StringReader;
import java.io.StringWriter;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import net.sf.saxon.TransformerFactoryImpl;

/** Saxon: an XSLT style sheet over documents of several megabytes. */
public class Transform {
    private static final String SHEET = """
            <xsl:stylesheet version="2.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
              <xsl:template match="/orders"><out>
                <xsl:for-each-group select="order" group-by="customer">
                  <xsl:sort select="current-grouping-key()"/>
                  <customer name="{current-grouping-key()}" total="{sum(current-group()/price)}"><xsl:apply-templates select="current-group()"/></customer>
                </xsl:for-each-group></out></xsl:template>
              <xsl:template match="order"><o><xsl:value-of select="concat(@id, ':', price * 2)"/></o></xsl:template>
            </xsl:stylesheet>
            """;

    public static void main(String[] arguments) throws Exception {
        StringBuilder orders = new StringBuilder("<orders>");
        for (int i = 0; i < 20_000; i++) {
            orders.append("<order id='").append(i).append("'><customer>c").append(i * 31 % 500).append("</customer><price>").append(i % 97).append("</price></order>");
        }
        String document = orders.append("</orders>").toString();
        var templates = new TransformerFactoryImpl().newTemplates(new StreamSource(new StringReader(SHEET)));
        long length = 0;
        for (int i = 0; i < 25; i++) {
            StringWriter out = new StringWriter();
            templates.newTransformer().transform(new StreamSource(new StringReader(document)), new StreamResult(out));
            length += out.getBuffer().length();
        }
        System.out.println(length);
    }
}
