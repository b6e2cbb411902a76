/**
 * Returns the relay's own id of an email from the reply that accepted it, which its logs and later reports use. Each pattern is for one
 * family of servers; the first match counts.
 */
const PATTERNS = [
  // Postfix, Mailpit, SendGrid, Halon, Haraka behind Postfix
  /\bqueued as ([\w./+-]{3,128})/i,
  // Haraka
  /\bmessage queued \(?([\w./+-]{8,128})/i,
  // Exim
  /\bid=([\w-]{10,64})/,
  // Exchange Online
  /\bInternalId=(\d{3,64})/i,
  // Sendmail, OpenSMTPD
  /^250 2\.\d\.\d ([\w.-]{6,64}) Message accepted/i,
  // Gmail: "OK", the time, the id
  /^250 2\.0\.0 OK +\d{6,} ([\w.-]{8,128}) - g?smtp/i,
  // Amazon SES
  /^250 (?:2\.\d\.\d )?Ok ([0-9a-f][0-9a-f-]{15,127})$/i,
];

export function relayId(reply: string): string | null {
  const line = reply.trim();
  for (const pattern of PATTERNS) {
    const [, id] = pattern.exec(line) ?? [];
    if (id !== undefined) return id.replace(/(?<![.])[.]+$/, '');
  }
  return null;
}
