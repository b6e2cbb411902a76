import { verify as verifySignature, X509Certificate } from 'node:crypto';
import type { HookVerdict, RelayContext } from './adapter.ts';
import { asObject, asText, asTime, type Json, readJson } from './json.ts';
import { freshness, strictBase64 } from './verify.ts';

/**
 * Messages of Amazon SNS over HTTPS:
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 *
 * Anybody with an account at Amazon can have SNS sign a message to any address. So a message is only valid if its topic is the one of the
 * settings.
 */
const SIGNED_FIELDS: Record<string, readonly string[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

/** The hosts of SNS, also those of the regions in China. The region is that of the topic. */
export function isSnsUrl(text: unknown, topicArn: string): text is string {
  if (typeof text !== 'string' || text.length > 2_048 || !URL.canParse(text)) return false;
  const { protocol, hostname, port, username, password } = new URL(text);
  const region = topicArn.split(':')[3] ?? '';
  const isHost =
    hostname === `sns.${region}.amazonaws.com` ||
    (region.startsWith('cn-') && hostname === `sns.${region}.amazonaws.com.cn`);
  return (
    protocol === 'https:' && port === '' && username === '' && password === '' && region !== '' && isHost
  );
}

export async function verifySns(body: Buffer, context: RelayContext): Promise<HookVerdict> {
  const message = asObject(readJson(body));
  const topic = context.settings['topic_arn'];
  const canonical = canonicalText(message);
  const signature = strictBase64(asSignature(message['Signature']));
  const certificateUrl = message['SigningCertURL'];
  if (topic === undefined || message['TopicArn'] !== topic || canonical === null || signature === null)
    return 'invalid';
  // Version 1 is SHA-1, for which a signer can no longer be trusted to have signed one text only.
  if (message['SignatureVersion'] !== '2' || !isSnsUrl(certificateUrl, topic)) return 'invalid';
  const certificate = await certificateOf(certificateUrl, context);
  if (certificate === null || !isValidAt(certificate, context.now())) return 'invalid';
  const isSigned = verifySignature('sha256', Buffer.from(canonical), certificate.publicKey, signature);
  return isSigned ? freshness(asTime(message['Timestamp']), context.now()) : 'invalid';
}

function asSignature(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Returns the text that SNS signs; null for a message of another form. */
function canonicalText(message: Json): string | null {
  const type = asText(message['Type']) ?? '';
  const fields = Object.hasOwn(SIGNED_FIELDS, type) ? SIGNED_FIELDS[type] : undefined;
  let text = '';
  for (const field of fields ?? []) {
    const value = message[field];
    // The subject is the only field that a message may lack.
    if (value === undefined && field === 'Subject') continue;
    if (typeof value !== 'string') return null;
    text += `${field}\n${value}\n`;
  }
  return text === '' ? null : text;
}

/** The certificates by their URLs. There are few, because their host is pinned; the oldest gives way. */
const certificates = new Map<string, X509Certificate>();
const CERTIFICATES_MAX = 20;
const CERTIFICATE_MAX_BYTES = 16 * 1_024;

async function certificateOf(url: string, { outbound, key }: RelayContext): Promise<X509Certificate | null> {
  const known = certificates.get(url);
  if (known) return known;
  const answer = await outbound.get({ url, headers: {}, key, fileMaxBytes: CERTIFICATE_MAX_BYTES });
  if (!answer.ok || answer.status !== 200 || !answer.file) return null;
  const certificate = readCertificate(answer.file.bytes);
  if (certificate === null) return null;
  const [oldest] = certificates.keys();
  if (certificates.size >= CERTIFICATES_MAX && oldest !== undefined) certificates.delete(oldest);
  certificates.set(url, certificate);
  return certificate;
}

function readCertificate(bytes: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(bytes);
  } catch {
    return null;
  }
}

function isValidAt({ validFrom, validTo, subject }: X509Certificate, now: number): boolean {
  return (
    Date.parse(validFrom) <= now &&
    now <= Date.parse(validTo) &&
    /CN=sns(?:\.[\w-]+)?\.amazonaws\.com/.test(subject)
  );
}

/** Confirms the subscription of the topic in the settings. */
export async function confirmSns(
  body: Buffer,
  { outbound, key, settings }: RelayContext,
): Promise<'confirmed' | 'none' | 'failed'> {
  const message = asObject(readJson(body));
  if (message['Type'] !== 'SubscriptionConfirmation') return 'none';
  const url = message['SubscribeURL'];
  if (!isSnsUrl(url, settings['topic_arn'] ?? '')) return 'failed';
  const answer = await outbound.get({ url, headers: {}, key });
  return answer.ok && answer.status === 200 ? 'confirmed' : 'failed';
}

/** Returns what was published, and the id of the message; null for anything but a notification. */
export function notificationOf(body: Buffer | string): { id: string; content: Json } | null {
  const message = asObject(readJson(body));
  const id = asText(message['MessageId']);
  if (message['Type'] !== 'Notification' || typeof message['Message'] !== 'string' || id === null)
    return null;
  return { id, content: asObject(readJson(message['Message'])) };
}
