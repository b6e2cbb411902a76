export { askBreaker, type Breaker, closedBreaker, passed, tripped } from './breaker.ts';
export { composeMail } from './compose.ts';
export type { HandOver, MailEnvelope, Relay, RelayOptions, RelayTimeouts } from './hand-over.ts';
export type { DkimKey, Letter, Mailbox } from './letter.ts';
export {
  type MailListener,
  type MailListenerOptions,
  type ReceivedMail,
  startMailListener,
} from './listener.ts';
export { probeRelay } from './probe-relay.ts';
export { openRelay } from './relay.ts';
