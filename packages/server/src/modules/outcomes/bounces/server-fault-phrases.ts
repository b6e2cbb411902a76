import { any } from './phrase.ts';

/** The server has reached its limit of connections. */
export const SAYS_CROWDED = any(
  String.raw`\btoo many (?:\S+ ){0,3}(?:connections?|sessions)\b|\b(?:concurrent|simultaneous) (?:\S+ )?(?:connections|sessions)\b|\bconnection limit\b|\b(?:exceeded the )?rate limit allowed on this connection\b`,
);

const UNKNOWN_USER = String.raw`\b(?:no such user|unknown user|user (?:is )?(?:unknown|not found))\b`;

/**
 * A delivery agent on the recipient's own server could not create, open or write a file. It says nothing about the address,
 * although the reason that the operating system gave may read "No such user".
 */
export const SAYS_LOCAL_DELIVERY_FAILED = any(
  String.raw`\b(?:could ?n[o']t|could not|cannot|can not|can't|unable to|failed to) (?:create|open|write|append|lock|chdir|access|stat|rename)(?: to| into)?(?: (?:the|an?|user|local|output|temporary|temp|dot|lock|mail)){0,4} ?["'\x60(]?(?:/|(?:email ?)?(?:file|folder)s?\b|mail ?box\b|maildir\b|director(?:y|ies)\b|dot-?lock\b|lock-?file\b|output\b|spool\b)`,
  String.raw`\b(?:procmail|maildrop|deliver|mail\.local|dovecot-lda): (?:could|can|unable|fail|error|lock)`,
  // The name of an agent, or an absolute path, in front of the reason. X.400 addresses begin with "/o=".
  String.raw`(?<![^\s"'|/(])(?:procmail|maildrop|mail\.local|dovecot-lda|vdelivermail|cyrdeliver)\b["']?(?: -[^:]{0,40})?: ${UNKNOWN_USER}|(?:^|\d |[:;|/"'(] ?)deliver: ${UNKNOWN_USER}`,
  String.raw`(?<![^\s"'\x60(|])/[\w.-]{1,40}/.{0,160}?${UNKNOWN_USER}`,
  String.raw`\blocal delivery (?:failed|failure|error)\b|\b(?:mail ?box|maildir|spool|file) (?:write|create|open|lock|access|append) (?:failed|failure|error)\b`,
  String.raw`\b(?:error|failure|failed|problem) (?:while |when |in |on )?(?:writing|creating|opening|locking|appending|saving|storing)(?: to| into)?(?: (?:the|an?|user|local|output|temporary|temp|dot|lock|mail)){0,4} ?["'\x60(]?(?:/|(?:email ?)?(?:file|folder)s?\b|mail ?box\b|maildir\b|director(?:y|ies)\b|spool\b)`,
  String.raw`(?:(?<!\S)["'\x60(]?/\S{1,200}|\b(?:mail ?box|maildir|folder|file|spool|director(?:y|ies))\b\S{0,2}(?: /\S{1,200})?):? (?:could ?n[o']t|could not|cannot|can not|can't|unable to|failed to) (?:be )?(?:created?|opened|open|written|write|append(?:ed)?|lock(?:ed)?)\b`,
);

/** Unmistakable words for a failure of the route or of the server. */
export const SAYS_NOT_REACHED = any(
  String.raw`\b(?:message|delivery time|time limit|retry time\w*|delivery period|queue lifetime|envelope|delivery) (?:limit |has |was )?(?:expired|exceeded)\b|\bretry time ?out exceeded\b|\bunable to deliver in \d+|\b(?:in the )?queue (?:for )?too long\b|\b(?:establish|make) an? smtp connection\b|\bqueue\.? ?expired\b|\bfailing for a long time\b|\bexceeded max time\b`,
  String.raw`\b(?:did not|didn't) accept our requests? to connect\b|\bconnect\w* (?:to |failed|failures?|refused|timed|reset|lost|attempt|died)|\bconnection (?:to \S+ )?(?:refused|timed? ?out|reset|lost|dropped|failed|closed|died)|\bconversation with \S+ timed out|\btimed out while\b|\boperation timed out\b|\bnot (?:reachable|responding)\b|\b(?:unable|cannot|could not|failed) (?:to )?connect\b|\bi\/o timeout\b|\btcp (?:read|write)\b|\bdelivery failed \d+ attempts\b`,
  String.raw`\bno route\b|\bnetwork is (?:unreachable|down)|\bhost is (?:down|unreachable)|\bnetwork error\b`,
  String.raw`\btoo many hops\b|\bhops?(?: count)?\b.{0,20}\b(?:exceed\w*|loop)|\bexceed\w* (?:\S+ ){0,4}hops\b|\bmail (?:forwarding )?loops?\b|\bloops? back to (?:myself|itself|me)|\bloop(?:ing)? detected\b|\brouting loop\b|\bis looping\b|\bin a loop\b|\bbest-preference mx\b|\bmx record points to local host\b|\bmxloopback\b|\btoo many "?received"?`,
  String.raw`\binternal (?:system |server |software )?error\b|\bsystem config(?:uration)? error\b|\bunknown mailer error\b|\b(?:local|server) configuration (?:error|problem)\b|\btransaction failed\b(?!.{0,60}\b(?:polic|reject|spam|reputation|block))|\b(?:temporary|local) (?:system |local )?problem\b|\binsufficient (?:system )?(?:resources|storage)\b|\binsufficient disk\b|\bmaintenance\b|\bis offline\b|\bcorrupt message\b|\bcommand died\b|\bchild process of\b|\bpipe to\b`,
);

/** A server reports its own failure. These words outrank the status. */
export const SAYS_OUT_OF_ORDER = any(
  String.raw`\binternal (?:system |server |software )?error\b|\b(?:temporary|local) (?:system |local )?problem\b|\bmail ?box server is\b|\bcorrupt message\b|\b(?:database|ldap)\b.{0,30}\b(?:not found|unavailable|unable|errors?|fail\w*)\b|\bunable to (?:find|open|access) (?:\S+ ){0,2}database\b|\bmxloopback\b|\bconfigured in a loop\b`,
  String.raw`\bstarttls\b(?! is not)|\btls (?:is )?(?:required|not available|handshake|negotiat\w*)|\bcertificate (?:not|validation|verif\w+|expired)`,
  String.raw`\b(?:queue (?:for )?too long|message expired|retry time\w* (?:not reached|exceeded)|too many hops|hop count exceeded|mail (?:forwarding )?loop|loops back to|no route to host|connection (?:refused|timed out|died)\b(?! your| by your))`,
);

/** A timeout or a failure, which says nothing about the address or the email. */
export const SAYS_BROKEN = any(
  String.raw`\b(?:time[d]?[- ]?out|time ?limit|timeout|expired|retry (?:time|limit|timeout)|delivery (?:time|period|attempts?)|giving up|too long|too old|undeliverable for|queue (?:too long|lifetime)|in (?:the )?queue|not delivered (?:within|for)|retries|keep trying)\b`,
  String.raw`\b(?:connection|conversation|session|network|socket) (?:\S+ ){0,4}(?:refused|reset|lost|dropped|closed|failed|error|timed|died|terminated|aborted|unreachable|broken)|\bconnect(?:ing|ed)? to (?:\S+ ){0,6}(?:failed|refused|timed)|\b(?:couldn'?t|could not|cannot|can'?t|unable to) (?:connect|establish|contact|reach|talk)`,
  String.raw`\b(?:network|host|server) (?:is )?(?:\S+ )?(?:unreachable|not reachable|down|not responding|not respond)|\bdid not respond|\bno answer\b|\bunreachable\b|\bhop count\b|\bloop\b`,
  String.raw`\b(?:configuration (?:error|problem)|misconfigur\w+|local (?:error|problem)|system (?:error|failure|problem)|i\/o error|input\/output|resources? (?:unavailable|temporarily)|out of memory|file ?system|disk full|lock|cannot (?:open|create|write|append)|can't (?:open|create|write|append)|command (?:failed|failure)|exit (?:code|status)|mailer (?:error|died)|program|permission denied|service (?:unavailable|currently|not available)|temporar(?:y|ily)|dns (?:failure|error|server|query|lookup)|lookup (?:failure|error|failed)|name ?server|server (?:error|busy|failure)|tls|handshake)\b`,
);
