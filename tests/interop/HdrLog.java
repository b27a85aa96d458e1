/* SPDX-License-Identifier: MIT
 *
 * What HdrHistogram for Java makes of our files.
 *   log FILE DIR  reads an interval log: a line "TAG START N P50 P90 P99 P99.9 MAX" an interval to
 *                 standard output, the log as Java writes it to DIR/log, and the percentile
 *                 distribution of each tag over all intervals to DIR/TAG.hgrm
 *   hgrm          the percentile distribution of the histogram whose base64 is standard input
 */
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Date;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

public class HdrLog {
    static final long HIGHEST = 60000000000L;

    static Histogram copyOf(Histogram read) {
        Histogram h = new Histogram(1, HIGHEST, 3);
        h.add(read);
        h.setTag(read.getTag());
        return h;
    }

    static void log(String file, String dir) throws Exception {
        HistogramLogReader reader = new HistogramLogReader(new File(file));
        HistogramLogWriter writer = new HistogramLogWriter(new File(dir, "log"));
        Map<String, Histogram> merged = new TreeMap<>();
        boolean hasHead = false;
        for (EncodableHistogram next; (next = reader.nextIntervalHistogram()) != null;) {
            Histogram h = copyOf((Histogram) next);
            double start = next.getStartTimeStamp() / 1000.0 - reader.getStartTimeSec();
            if (!hasHead) {
                writer.outputLogFormatVersion();
                writer.outputStartTime((long) (reader.getStartTimeSec() * 1000));
                writer.outputLegend();
                hasHead = true;
            }
            double length = (next.getEndTimeStamp() - next.getStartTimeStamp()) / 1000.0;
            writer.outputIntervalHistogram(start, start + length, h, 1000000.0);
            System.out.println(String.format("%s %.0f %d %d %d %d %d %d", h.getTag(), start,
                h.getTotalCount(), h.getValueAtPercentile(50), h.getValueAtPercentile(90),
                h.getValueAtPercentile(99), h.getValueAtPercentile(99.9), h.getMaxValue()));
            merged.computeIfAbsent(h.getTag(), tag -> new Histogram(1, HIGHEST, 3)).add(h);
        }
        writer.close();
        for (Map.Entry<String, Histogram> entry : merged.entrySet()) {
            PrintStream to = new PrintStream(new File(dir, entry.getKey() + ".hgrm"));
            entry.getValue().outputPercentileDistribution(to, 5, 1.0);
            to.close();
        }
    }

    static void hgrm() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        byte[] bytes = Base64.getDecoder().decode(in.readLine().trim());
        Histogram read = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 1);
        copyOf(read).outputPercentileDistribution(System.out, 5, 1.0);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("log"))
            log(args[1], args[2]);
        else
            hgrm();
    }
}
