export type Snippet = { language: string; code: string };

/** Code that verifies a delivery without a library. Each function takes the raw body, the header X-Service-Signature and the secret. */
export const SNIPPETS: Snippet[] = [
  {
    language: 'Node',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto';

export function isGenuine(body, header, secret) {
  const parts = (header ?? '').split(',').map((part) => part.split('='));
  const times = parts.filter(([name]) => name === 't').map(([, value]) => value);
  if (times.length !== 1 || !/^\\d{1,12}$/.test(times[0])) return false;
  if (Math.abs(Date.now() / 1000 - Number(times[0])) > 300) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const wanted = createHmac('sha256', key).update(\`\${times[0]}.\`).update(body).digest();
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(name === 'v1' ? value : '', 'hex');
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}
`,
  },
  {
    language: 'Python',
    code: `import base64, hashlib, hmac, re, time

def is_genuine(body: bytes, header: str, secret: str) -> bool:
    parts = [part.partition("=") for part in (header or "").split(",")]
    times = [value for name, _, value in parts if name == "t"]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]):
        return False
    if abs(time.time() - int(times[0])) > 300:
        return False
    key = base64.b64decode(secret[len("whsec_"):])
    wanted = hmac.new(key, times[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(
        name == "v1" and hmac.compare_digest(value.encode(), wanted.encode())
        for name, _, value in parts
    )
`,
  },
  {
    language: 'Java',
    code: `import java.security.MessageDigest;
import java.time.Instant;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Webhooks {
  static boolean isGenuine(byte[] body, String header, String secret) throws Exception {
    String time = null;
    List<String> given = new ArrayList<>();
    for (String part : (header == null ? "" : header).split(",")) {
      String[] pair = part.split("=", 2);
      if (pair.length == 2 && pair[0].equals("v1")) given.add(pair[1]);
      if (pair.length != 2 || !pair[0].equals("t")) continue;
      if (time != null || !pair[1].matches("[0-9]{1,12}")) return false;
      time = pair[1];
    }
    if (time == null || Math.abs(Instant.now().getEpochSecond() - Long.parseLong(time)) > 300) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring("whsec_".length())), "HmacSHA256"));
    mac.update((time + ".").getBytes());
    byte[] wanted = HexFormat.of().formatHex(mac.doFinal(body)).getBytes();
    return given.stream().anyMatch((one) -> MessageDigest.isEqual(one.getBytes(), wanted));
  }
}
`,
  },
];
