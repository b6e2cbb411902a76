export { wireAddress } from './address.ts';
export { askBreaker, type Breaker, closedBreaker, passed, tripped } from './breaker.ts';
export { composeMail } from './compose.ts';
export type { HandOver, MailEnvelope, OpenRelay, Relay, RelayOptions, RelayTimeouts } from './hand-over.ts';
export type { DkimKey, Letter, Mailbox } from './letter.ts';
export {
  type Certificate,
  type MailDoor,
  type MailListener,
  type MailListenerOptions,
  startMailListener,
} from './listener.ts';
export type { MailRefusal, ReceivedMail } from './take-letter.ts';
export { authenticateMail, type MailAuthentication, type MailSource } from './authenticate.ts';
export { composeForward, type Forward } from './forward.ts';
export { createMailReader, type MailReader, type MailReading, type ReadInbound } from './read-inbound.ts';
export { probeRelay } from './probe-relay.ts';
export { openRelay } from './relay.ts';
