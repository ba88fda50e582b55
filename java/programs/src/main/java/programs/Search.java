package programs;

import java.io.IOException;
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Lucene in memory: an index of short documents, and queries. */
public final class Search {
    private Search() {}

    public static void main(String[] arguments) throws IOException {
        int rounds = Integer.parseInt(arguments[0]);
        Random random = new Random(3);
        long found = 0;
        for (int round = 0; round < rounds; round++) {
            ByteBuffersDirectory folder = new ByteBuffersDirectory();
            try (IndexWriter writer = new IndexWriter(folder, new IndexWriterConfig(new StandardAnalyzer()))) {
                for (int i = 0; i < 2000; i++) {
                    Document document = new Document();
                    document.add(new StringField("id", "document " + i, Field.Store.YES));
                    document.add(new TextField("text", Data.sentence(random, 60), Field.Store.YES));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(folder)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int i = 0; i < 300; i++) {
                    BooleanQuery query = new BooleanQuery.Builder()
                            .add(new TermQuery(new Term("text", Data.word(random))), BooleanClause.Occur.SHOULD)
                            .add(new TermQuery(new Term("text", Data.word(random))), BooleanClause.Occur.SHOULD)
                            .build();
                    found += searcher.search(query, 10).totalHits.value;
                }
            }
        }
        System.out.println(found);
    }
}
