import type { SendResult } from '../../platform/mail/send-result.ts';
import type { OpenRelay } from '../../platform/mail/submit.ts';
import type { ProjectSender } from './find-sender.ts';
import type { OpenRelayTransport, TransportEmail } from './transport.ts';

export type CopyRelays = {
  /** The relay of `SMTP_URL`, or the test inbox. */
  openRelay: OpenRelay;
  openRelayTransport: OpenRelayTransport;
};

/** Submits a test copy through the relay of its sender. A copy belongs to no draft, and its result is not recorded. */
export async function submitCopy(
  { openRelay, openRelayTransport }: CopyRelays,
  { relay }: Pick<ProjectSender, 'relay'>,
  email: TransportEmail,
): Promise<SendResult> {
  const { mailFrom: from, rcptTo: to, mime } = email;
  if (relay === null) return (await openRelay()).submit({ from, to, envid: null }, mime);
  const transport = openRelayTransport(relay);
  try {
    return await transport.submit(email);
  } finally {
    await transport.close?.();
  }
}
