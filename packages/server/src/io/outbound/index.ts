export { type CheckedUrl, checkUrl, type UrlRules } from './check-url.ts';
export {
  createOutbound,
  type Outbound,
  type OutboundFailure,
  type OutboundGet,
  type OutboundOptions,
  type OutboundPost,
} from './outbound.ts';
export { type OutboundAnswer } from './exchange.ts';
