import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Lucene: an index in memory, and queries. */
public class Search {
    public static void main(String[] arguments) throws Exception {
        ByteBuffersDirectory directory = new ByteBuffersDirectory();
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setMergeScheduler(new SerialMergeScheduler()).setRAMBufferSizeMB(8);
        long state = 1;
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int i = 0; i < 40_000; i++) {
                StringBuilder text = new StringBuilder();
                for (int k = 0; k < 40; k++) {
                    state = state * 6364136223846793005L + 1442695040888963407L;
                    text.append("term").append((state >>> 40) % 5000 * ((state >>> 34) % 5)).append(' ');
                }
                Document document = new Document();
                document.add(new StringField("id", Integer.toString(i), Field.Store.YES));
                document.add(new TextField("text", text.toString(), Field.Store.YES));
                writer.addDocument(document);
            }
        }
        long hits = 0;
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            for (int i = 0; i < 20_000; i++) {
                BooleanQuery query = new BooleanQuery.Builder()
                        .add(new TermQuery(new Term("text", "term" + i % 5000)), BooleanClause.Occur.SHOULD)
                        .add(new TermQuery(new Term("text", "term" + i * 7 % 5000)), BooleanClause.Occur.SHOULD)
                        .build();
                hits += searcher.search(query, 10).scoreDocs.length;
            }
        }
        System.out.println(hits);
    }
}
