import { any, WHO, words } from './phrase.ts';

/** The mailbox has reached its limit. */
export const SAYS_FULL = any(
  String.raw`\b(?:${WHO}|mail ?folder|mail ?file|mail ?dir|folder|disk|storage|database|quota)\b(?:'s|s)?${words(5)} (?:full|over ?quota|over (?:its|his|her|the|their) (?:\S+ )?(?:quota|limit)|out of (?:\S+ )?(?:space|quota|storage)|exceed\w* (?:\S+ ){0,4}(?:quota|storage|disk space|space|mail ?box (?:size|limit))|has no (?:space|room)|limit (?:exceeded|reached)|reached its (?:\S+ )?(?:maximum|limit|quota))\b|\bmail ?box exceed\w* (?:\S+ ){0,2}limit\b`,
  String.raw`\bquota\b.{0,40}\b(?:exceed\w*|full|reach\w*|over|violat\w*)\b|\b(?:exceed\w*|over|above|beyond|out of) (?:\S+ ){0,3}(?:quota|(?:mail ?box|disk|folder|storage) (?:size|limit|space|allocation))\b`,
  String.raw`\b(?:mail ?box|inbox|account|disk|storage) (?:size |space |storage )?(?:limit|quota) (?:was |has been |is )?(?:exceeded|reached)\b|\b(?:exceeded|insufficient) (?:\S+ )?storage (?:allocation|space)\b`,
  String.raw`\b(?:not|no|insufficient|lack of|too little|not enough) (?:\S+ ){0,2}(?:disk ?space|space|mail ?box space|storage|room)(?: left| available)? (?:for|in|on|of) (?:\S+ ){0,3}(?:user|recipient|mail ?box|account|disk|device)\b|\bnot enough (?:storage|space)\b|\b(?:too little|insufficient) space\b`,
  String.raw`\btoo many (?:messages|mails) (?:on|in) (?:the |this |your )?(?:server|mail ?box|inbox|folder)\b|\b(?:does not|doesn't) have (?:enough )?(?:room|space)\b|\bexceeds? (?:the )?remaining\b`,
  String.raw`\b(?:mail ?box|inbox|mail) ?-?full\b|\bover ?-?quota\b|\bquota ?-?(?:full|exceeded)\w*|\bmailbox_full\b|\bnot enough (?:disk|mail ?box)\b|\bwould (?:be over|exceed) (?:the |its )?(?:\S+ )?quota\b`,
);

/** A limit of the mailbox, in words similar to those for an email that is too large. */
export const SAYS_MAILBOX_LIMIT = any(
  String.raw`\bexceed\w* (?:the |its )?(?:mail ?box|inbox|account)(?:'s)? (?:size|limit|quota|maximum)\b`,
);

/** The account exists but is closed for now. */
export const SAYS_SUSPENDED = any(
  String.raw`\b(?:account|mail ?box|user|recipient|address|inbox|domain)\b${words(7)} (?:disabled|suspended|inactive|locked|deactivated|frozen|on hold|out of service|discontinued|dormant|archived|not active|temporarily (?:unavailable|blocked|closed|limited)|no longer active)\b`,
  String.raw`\b(?:account|mail ?box|user) (?:\S+ ){0,2}(?:is |has been |was |been )(?:\w+ )?(?:blocked|closed|terminated|expired)\b(?! (?:by|using|due to your))`,
  String.raw`\b(?:disabled|inactive|suspended|locked|deactivated|dormant|archived|frozen) (?:e-?mail |mail |user )?(?:account|mail ?box|user|recipient|address)\b|\binvalid\/inactive\b|\baccountdisabled\w*`,
  String.raw`\bvacation ?only\b|\bnever logged on\b|\b(?:extended|long) (?:period of )?inactivity\b|\baccount (?:is )?(?:currently|temporarily) not available\b`,
);

/** The recipient's own rules, or those of the mailbox provider for them. */
export const SAYS_UNWANTED_BY_RECIPIENT = any(
  String.raw`\b(?:recipient|user|member|subscriber)(?:'?s)? (?!(?:mail )?(?:server|domain|host|system))(?:has |is |have |does |do |did )?(?:\S+ ){0,2}(?:refus\w+|reject\w* (?:this|your|the|mail|messages)|block(?:ed|s|ing)? (?:you|this|your|mail)|not (?:accept(?:ing)?|want|wish)|denies|declin\w+)`,
  String.raw`\b(?:recipient|user|member)(?:'?s)? (?:own |mail |personal )?(?:preferences?|settings?|rules?|filters?|white ?list)\b|\buser refused\b|\bblocked by the (?:recipient|user)\b|\bprotected by (?:a |an )?(?:challenge|\S+ confirmation)`,
  String.raw`\bis not accepting (?:mail|messages|e-?mail)\b|\bonly accept\w* (?:mail|messages|e-?mail) from (?:specific|known|listed|approved)|\bnot (?:wish|want) to receive\b|\brefuses to (?:receive|accept)\b`,
);

/** Refused at the mailbox without a reason, which is how filters of recipients speak. */
export const SAYS_FILTERED = any(
  String.raw`\b(?:recipient|user|mail ?box|address|account)\b${words(4)} (?:refus\w+|reject\w*|not accept\w*|does not (?:accept|want|wish)|unable to accept|denies|denied|cannot accept|not able to)\b`,
  String.raw`\bmail ?box (?:is )?(?:unavailable|not available|busy)\b|\bnot accepting (?:mail|messages)\b|\brecipient (?:rejected|refused|filter)`,
);

/** A refused recipient, with or without a reason. Only a cause beside these words counts, since the status decides otherwise. */
export const SAYS_REFUSED = any(
  String.raw`\b(?:address(?:es)?|recipients?|mail ?box) (?:(?:is|was|has been|have been) )?(?:rejected|refused|unavailable)\b`,
);

/** The words of RFC 5321 for an address that is not served. They have that meaning in an answer to RCPT. */
export const SAYS_UNAVAILABLE = any(
  String.raw`(?<!\b(?:ip|client|source|host|remote|server|return|your|from) )\baddress(?:es)? (?:is |was |has been |have been )?rejected\b(?!: ?\S)|\baccount unavailable\b|\b(?:server|host) (?:has )?rejected (?:the )?(?:recipients?|address(?:es)?)\b`,
  String.raw`\brequested (?:mail )?action (?:not taken|aborted)[:,]? mail ?box (?:unavailable|not found)\b(?!.{0,80}\b(?:polic|limit|sender|spf|reject|spam|reputation|content))|\b(?:unknown recipient or )?mail ?box unavailable\b(?!.{0,80}\b(?:polic|limit|sender|spf|reject|spam|access denied|reputation|content))|\brecipient address rejected: ?(?:access denied|host|$)|\brecipient rejected\b(?!:)|^[\W\d]*address rejected\b|\bmail ?box name (?:is )?(?:not allowed|invalid)\b`,
);

/** The answer of an access table or a directory at the edge for a recipient that it does not contain. */
export const SAYS_DENIED = any(String.raw`\brecipient address rejected: ?access denied\b`);
