export { type NewReply, type Reply, type ReplyKind, type ReplySign, REPLY_RAW_KEPT_MS } from './reply.ts';
export { countReplies, findReply, listReplies, listThread } from './reads.ts';
export {
  endForward,
  eraseReplies,
  forgetRaw,
  forgetReplies,
  forwardAgain,
  type ForwardedReply,
  insertReply,
  takeForward,
} from './store.ts';
