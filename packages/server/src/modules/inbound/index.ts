export { classifyMail } from './classification/classify-mail.ts';
export { MAIL_BYTES_MAX, readMail } from './classification/read-mail.ts';
export { startMailIn } from './mail/server.ts';
export { countReplies, findReply, listReplies, listThread } from './replies/reads.ts';
export { type Reply, REPLY_RAW_KEPT_MS } from './replies/reply.ts';
export { eraseReplies, forgetRaw, forgetReplies, forwardAgain, insertReply } from './replies/store.ts';
export { type ClassifiedHit, findUrls, listClassifiedHits } from './tracking/hit-reads.ts';
export { mountProbe } from './tracking/routes.ts';
export { createTracker } from './tracking/tracker.ts';
