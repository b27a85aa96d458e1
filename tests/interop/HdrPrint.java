/* SPDX-License-Identifier: MIT
 *
 * The answers of HdrHistogram for Java to the lines that hdr_print.c describes ("input recipe N"
 * and "input V VxCOUNT …"). The golden files are what this program prints. Values above the
 * highest are counted as overflow, as ours are: Java would keep some of them and throw for others.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import org.HdrHistogram.Histogram;

public class HdrPrint {
    static final long HIGHEST = 60000000000L;
    static final String[] PERCENTILES = {"0", "1", "5", "10", "25", "50", "75", "90", "99",
        "99.9", "99.99", "99.999", "100"};
    static long overflow;

    static long recipe(long i) {
        long z = (i + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        z ^= z >>> 31;
        return z >>> 28 >>> (z & 31);
    }

    static void record(Histogram h, long value, long count) {
        if (value > HIGHEST)
            overflow += count;
        else
            h.recordValueWithCount(value, count);
    }

    static void fill(Histogram h, String[] words) {
        if (words.length == 3 && words[1].equals("recipe")) {
            for (long i = 0, n = Long.parseLong(words[2]); i < n; i++)
                record(h, recipe(i), 1);
            return;
        }
        for (int i = 1; i < words.length; i++) {
            String[] parts = words[i].split("x");
            record(h, Long.parseLong(parts[0]), parts.length > 1 ? Long.parseLong(parts[1]) : 1);
        }
    }

    static String encoded(Histogram h) {
        ByteBuffer buffer = ByteBuffer.allocate(h.getNeededByteBufferCapacity() + 1024);
        int n = h.encodeIntoCompressedByteBuffer(buffer, 9);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), n));
    }

    static void print(Histogram h) {
        System.out.println("base64 " + encoded(h));
        System.out.println("overflow " + overflow);
        System.out.println("total " + h.getTotalCount());
        System.out.println("min " + (h.getTotalCount() == 0 ? 0 : h.getMinValue()));
        System.out.println("max " + h.getMaxValue());
        for (String p : PERCENTILES)
            System.out.println("percentile " + p + " "
                + h.getValueAtPercentile(Double.parseDouble(p)));
        System.out.println(String.format(Locale.ROOT, "mean %.3f", h.getMean()));
        System.out.println(String.format(Locale.ROOT, "stddev %.3f", h.getStdDeviation()));
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            if (!line.startsWith("input"))
                continue;
            Histogram h = new Histogram(1, HIGHEST, 3);
            overflow = 0;
            fill(h, line.split(" "));
            System.out.println(line);
            print(h);
        }
    }
}
