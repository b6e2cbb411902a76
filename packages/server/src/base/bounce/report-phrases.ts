import type { ReplyClass } from './classify-reply.ts';
import { SAYS_FULL, SAYS_NO_RELAYING, SAYS_TOO_FAST, SAYS_UNKNOWN, SAYS_UNWANTED } from './phrases.ts';

/**
 * What reports say beyond what a server says in an SMTP reply: words of queues, delivery agents and gateways. Asked in this
 * order of a text whose addresses, hosts and ids are gone; the first that is said decides. What is specific stands before
 * what is general: "message size exceeds the quota" is about neither a full mailbox nor a spam filter.
 */
export type Rule = { class: ReplyClass; phrase: RegExp; about?: 'host' };

const any = (...phrases: string[]): RegExp => new RegExp(phrases.join('|'));

/** Not about the mailbox: the letter is larger than anybody may send there. */
const SAYS_TOO_LARGE = any(
  String.raw`\b\w*(?:recip|send|msg|message)sizelimit\w*\b`,
  String.raw`\b(?:message|mail|e-?mail|size|header|body|content|attachments?)\b.{0,30}\b(?:too (?:large|big)|larger than|exceed\w* (?:the |a |our |its )?(?:fixed |maximum |max |allowed |allowable |administrative |configured |incoming |message |system |server )*(?:size|limit|length|message))`,
  String.raw`\b(?:message|maximum|max) (?:file |message |e-?mail |length )?(?:size|length)\b.{0,40}\b(?:exceed\w*|limit)`,
  String.raw`\b(?:exceed\w*|over|above) (?:the |our )?(?:fixed |maximum |max |allowed )*(?:message|e-?mail|mail)(?: size)? (?:size|limit)`,
  String.raw`\b5\.(?:3\.4|2\.3)\b`,
);

/** The account is there and closed for now. */
const SAYS_SUSPENDED = any(
  String.raw`\b(?:account|mailbox|user|recipient|address|inbox|domain)\b.{0,50}\b(?:is |has been |was |been |currently |temporarily |are )(?:\w+ )?(?:disabled|suspended|inactive|locked|deactivated|blocked|frozen|on hold|out of service|unavailable for)`,
  String.raw`\b(?:disabled|inactive|suspended|locked|deactivated|dormant) (?:e-?mail |mail )?(?:account|mailbox|user|recipient|address)`,
  String.raw`\b(?:account|mailbox|user) (?:disabled|suspended|inactive|locked|deactivated|expired|frozen)\b|\bnot active\b`,
  String.raw`\baccount (?:that you tried to reach )?(?:is )?(?:disabled|inactive|over)`,
  String.raw`\b(?:account|user|mailbox|recipient|address)\b.{0,30}\b(?:discontinued|terminated|frozen|no longer active|no longer accepts (?:e-?)?mail)\b`,
  String.raw`\bvacation ?only\b|\bmailbox currently (?:suspended|unavailable)|\binvalid\/inactive\b`,
);

/** The mailbox has a limit, and the letter is beyond it. */
const SAYS_FULL_TOO = any(
  String.raw`\b(?:mailbox|mail ?box|inbox|account|maildir|folder|user|recipient|disk|storage|quota)\b.{0,40}\b(?:is full|full\b|over ?quota|quota exceeded|out of (?:space|quota)|exceed\w* (?:\S+ ){0,4}(?:quota|limit|storage|space|size)|has no (?:space|room)|no space left|limit (?:exceeded|reached))`,
  String.raw`\b(?:quota|storage) (?:violation|full|limit)|\bexceed\w* (?:\S+ ){0,3}(?:mailbox|mail box|disk|storage|folder) (?:size|limit|quota|space)`,
  String.raw`\b(?:not|no|insufficient|lack of|too little) (?:\S+ ){0,3}(?:disk ?space|space (?:left|available|in|on)|mailbox space|storage (?:space|left)) ?(?:for|in|on|of)? ?(?:the |this )?(?:user|recipient|mailbox|account|disk)?`,
  String.raw`\btoo many (?:messages|mails) (?:on|in) (?:the |this |your )?(?:server|mailbox|inbox|folder)`,
  String.raw`\bwould (?:be over|exceed) (?:the |its )?(?:\w+ )?quota\b|\b5\.2\.2\b|\b4\.2\.2\b|\bmailbox[- ]?full\b|\bover (?:the )?quota\b`,
);

/** Nobody is there, and a report says so in more ways than a server does. */
const SAYS_UNKNOWN_TOO = any(
  String.raw`\b(?:no|not a|not an|unknown|invalid|non-?existent|nonexisting|illegal|incorrect|undefined|unrecogni[sz]ed|bad) (?:such )?(?:\S+ ){0,2}(?:user|users|recipient|recipients|mailbox|mailboxes|address|addressee|account|person|alias|local part|user ?name|login|inbox|subscriber|user id|userid|destination address)\b`,
  String.raw`\bno such (?:\S+ ){0,2}(?:user|person|recipient|mailbox|address|account|name|local|domain|object|entry|subscriber)`,
  String.raw`\b(?:user|recipient|mailbox|address|account|alias|e-?mail|addressee|name|person|subscriber|mail box|inbox)\b(?:'s|s)?(?: [^\s.;]+){0,8} (?:unknown|not found|not exist\w*|not listed|not (?:be )?(?:found|located|known|recogni[sz]ed|registered|valid)|couldn'?t be found|wasn'?t found|doesn'?t exist|does ?n.t exist|do(?:es)? not exist|no longer (?:exists?|valid|available|in use|here|accepts?|receiv\w+|on (?:this )?server)|isn'?t (?:valid|listed|a valid)|no existe|n'existe pas|inconnue?|unbekannt|desconocid[oa]|inexistente|sconosciuto|nicht (?:gefunden|bekannt|vorhanden))`,
  String.raw`\b(?:unknown|unrouteable|unroutable|undeliverable|unresolvable) (?:\S+ )?(?:user|address|recipient|mailbox|account|to)\b|\buser[- ]?unknown\b|\bunknown[- ]?user\b|\bunknown or illegal\b`,
  String.raw`\b(?:couldn'?t|could not|cannot|can'?t|unable to) (?:find|locate|resolve) (?:\S+ ){0,4}(?:user|recipient|mailbox|account|address|addressee|name)`,
  String.raw`\bno (?:mailbox|account|user|recipient|mail ?box|one|person|home|match\w*) (?:\S+ ){0,3}(?:here|by that|with that|of that|in (?:directory|name))|\bnot (?:in|listed in|found in) (?:\S+ ){0,4}(?:directory|address book|user list|database|name)`,
  String.raw`\b(?:ex)?recip\w*notfound\b|\brecipient(?: \w+)? not recogni[sz]ed\b|\bnosuchrecipient\b|\bnot a (?:known|valid|registered|local) (?:\S+ )?(?:user|recipient|mailbox|address|account)|\bunknown (?:extension|local part)`,
  String.raw`\b(?:does ?n.t|does not|don'?t|doesn'?t) (?:have|handle|know|recogni[sz]e|exist) ?(?:\S+ ){0,4}(?:user|account|mailbox|address|recipient|here)|\b(?:address|user) (?:has )?(?:moved|gone|left)\b|\bhas (?:moved|left) (?:to|the)\b`,
  String.raw`\bthis (?:address|user|mailbox|account) (?:no longer|does not|doesn't)|\binvalid (?:final delivery|mailbox|recipient|user|address|e-?mail)|\bnot our customer\b|\bis not a (?:valid|known)\b`,
  String.raw`\b[45]\.1\.10\b|\brecipient address rejected: (?:undeliverable|unknown|access denied: user)|\bundeliverable address\b`,
);

/** It is we who have no name, or a bad one. */
const SAYS_WHO_ARE_YOU = any(
  String.raw`\b(?:find|resolve|verify|look ?up|identify|recogni[sz]e|accept mail from) (?:your|the client|client|sender)(?:'s)?\b|\bclient host (?:rejected|blocked)|\bhelo command rejected\b|\binvalid (?:helo|ehlo|ip)\b`,
  String.raw`\b(?:no|missing|invalid|without|have|has) (?:a |valid |an )*(?:ptr|reverse|rdns)|\byour (?:server|ip|hostname|host name|mail server|mta)\b|\btemporarily deferred due to\b|\buser complaints\b`,
);

/** Its name servers did not say where it leads. */
const SAYS_NO_ANSWER_OF_DNS =
  /\b(?:name server|dns)\b.{0,40}\b(?:malformed|unexpected|servfail|server failure|try again|timed? ?out|timeout)|\b(?:malformed|unexpected) (?:or unexpected )?name server reply/;

/** The domain leads nowhere. */
const SAYS_NO_HOST = any(
  String.raw`\b(?:host|domain|hostname|server|mail server)\b(?: [^\s.;\d]+){0,4} (?:unknown|not found|does ?n.t exist|does not exist|nonexistent|invalid|could not be found|couldn't be found|cannot be (?:found|resolved)|unresolvable|not known|does not resolve)`,
  String.raw`\b(?:unknown|no such|invalid|illegal|non-?existent|unrouteable|unroutable|bad destination) (?:mail )?(?:host|domain|hostname|system|server|site)\b|\bhost ?unknown\b|\bnxdomain\b`,
  String.raw`\b(?:couldn'?t|could not|cannot|can'?t|unable to) (?:find|resolve|locate) (?:any |a |the )?(?:host|domain|hostname|mx|exchange|mail exchanger)|\b(?:domain|address) not found\b`,
  String.raw`\b(?:name or service not known|no (?:mx|a|mail exchanger|dns)(?: or (?:mx|a))? (?:records?|hosts?|found)|null ?mx|indicated no smtp service|host address lookups failed permanently|no host found for existing|(?:recipient )?domain (?:is not reachable|must exist)|mail domain mentioned in e-?mail address is unknown|infodomainnonexistent|infonorecords|nonexistentdomain|(?:host|domain) does not accept (?:any )?(?:e-?)?mails?(?! from)|mail receiving disabled|no mx found for|name server: ?: host not found|all relevant mx records point to non-?existent|domain does not accept|no route to domain|mx (?:record )?points? to)`,
  String.raw`\bdns (?:error|lookup)\b.{0,60}\b(?:nxdomain|not found|no such|name not found|does not exist)|\bname server: (?:host|domain|id|host): ?(?:host )?not found`,
);

/** Somebody was not reached in time, or something broke. It says nothing of the address, nor of the letter. */
const SAYS_BROKEN = any(
  String.raw`\b(?:time[d]?[- ]?out|time ?limit|timeout|expired|retry (?:time|limit|timeout)|delivery (?:time|period|attempts?)|giving up|too long|too old|undeliverable for|queue (?:too long|lifetime)|in (?:the )?queue|not delivered (?:within|for)|retries|keep trying)\b`,
  String.raw`\b(?:connection|conversation|session|network|socket) (?:\S+ ){0,4}(?:refused|reset|lost|dropped|closed|failed|error|timed|died|terminated|aborted|unreachable|broken)|\bconnect(?:ing|ed)? to (?:\S+ ){0,6}(?:failed|refused|timed)|\b(?:couldn'?t|could not|cannot|can'?t|unable to) (?:connect|establish|contact|reach|talk)`,
  String.raw`\b(?:network|host|server) (?:is )?(?:\S+ )?(?:unreachable|not reachable|down|not responding|not respond)|\bno route to host\b|\bdid not respond|\bno answer\b|\bunreachable\b`,
  String.raw`\b(?:too many hops|hop count|mail ?loop|loops? back|routing loop|loop(?:ing)? detected|mail forwarding loop|loop\b)`,
  String.raw`\b(?:configuration (?:error|problem)|misconfigur\w+|local (?:error|problem)|system (?:error|failure|problem)|internal (?:server |software )?error|i\/o error|input\/output|resources? (?:unavailable|temporarily)|out of memory|insufficient (?:system )?(?:resources|storage)|file ?system|disk full|lock|cannot (?:open|create|write|append)|can't (?:open|create|write|append)|command (?:failed|died|failure)|exit (?:code|status)|unknown mailer error|mailer (?:error|died)|program|pipe|permission denied|service (?:unavailable|currently)|temporar(?:y|ily)|dns (?:failure|error|server|query|lookup)|lookup (?:failure|error|failed)|name ?server|server (?:error|busy|failure)|tls|starttls|certificate|handshake)\b`,
);

/** The way there, said so plainly that nothing else can be meant. */
const SAYS_NOT_REACHED = any(
  String.raw`\b(?:message|delivery time|time limit|retry time\w*|delivery period|queue lifetime) (?:limit |has |was )?(?:expired|exceeded)\b|\bretry time ?out exceeded\b|\bunable to deliver in \d+|\bin the queue too long\b|\b(?:establish|make) an? smtp connection\b`,
  String.raw`\b(?:did not|didn't) accept our requests? to connect\b|\bconnect\w* (?:to |failed|refused|timed|reset|lost|attempt)|\bconnection (?:to \S+ )?(?:refused|timed? ?out|reset|lost|dropped|failed|closed|died)|\bconversation with \S+ timed out|\btimed out while\b|\boperation timed out\b`,
  String.raw`\bno route to host\b|\bnetwork is (?:unreachable|down)|\bhost is (?:down|unreachable)`,
  String.raw`\btoo many hops\b|\bhop count\b|\bmail (?:forwarding )?loop|\bloops? back to (?:myself|itself|me)|\bloop detected\b|\brouting loop\b|\binternal (?:system |server |software )?error\b|\bsystem config(?:uration)? error\b|\bunknown mailer error\b|\blocal configuration error\b`,
);

/** Words of those who refuse a letter or its sender, beyond what an SMTP reply says. */
const SAYS_UNWANTED_TOO = any(
  String.raw`\b(?:spam\w*|uce|ube|unsolicited|junk|bulk|phish\w*|malware|virus\w*|infected|worm|trojan|suspicious|forged|spoof\w*|fraud\w*|abus\w+|objectionable|offensive|complaints?|dangerous|harmful)\b`,
  String.raw`\b(?:block(?:ed|ing|s)?|listed (?:in|on|by|at)|(?:black|block|deny|white|gray|grey)[- ]?list\w*|dnsbl|rbl|rbls|spamhaus|barracuda\w*|spamcop|sorbs|cloudmark|senderbase|reputation|banned|blacklisted)\b`,
  String.raw`\b(?:spf|dkim|dmarc|arc|domainkeys|sender id|senderid|authenticated|unauthenticated|authentication|domain of \S+ does not designate|ptr|reverse (?:dns|lookup|hostname)|rdns|helo|ehlo|fqdn|fcrdns|resolve your|your (?:ip|host|domain|address|message|server|mail|email|e-mail)\b.{0,40}\b(?:rejected|refused|denied|not (?:allowed|accepted|permitted)))\b`,
  String.raw`\b(?:notauthori[sz]ed|authrequired|accessdenied)\b`,
  String.raw`\b(?:polic(?:y|ies)|prohibit\w*|not (?:authori[sz]ed|allowed|permitted|acceptable|accepted|allow)|unauthori[sz]ed|permission to|administrative(?:ly)?|administrator|restricted|restriction\w*|security|unacceptable|violat\w+|compl(?:y|iant|iance)|rfc ?[25][38]2[12]|rfc[- ]?compl\w*|access denied|denied access|denied by|disallowed|forbidden|transport rules?|moderat\w+|do not have permission|only accepts?)\b`,
  String.raw`\b(?:content|contents|attachments?|message|mail|e-?mail|letter|header|body|subject|from|sender|client|domain|ip|host|connection|originator|headers)\b(?: [^\s.;]+){0,5} (?:rejected|refused|not accept\w*|denied|filtered|banned|dropped|discarded|disallowed|blocked|not allowed|unacceptable|malformed|invalid|illegal|missing|declined)\b`,
  String.raw`\b(?:rejected|refused|denied|blocked|rejecting|filtered|declined) (?:by|due|because|for|as|from|message|your|the message|this message|content|on)\b|\bmessage (?:rejected|refused|denied|blocked|filtered|bounced|content)|\bmail (?:rejected|refused)|\bcontent (?:filter|rejected)|\bfilter(?:ed|s|ing)?\b.{0,30}\b(?:message|content|rejected)`,
  String.raw`\b(?:too many|too much|too fast|rate|throttl\w*|excessive|unusual|limit(?:s|ed)? (?:for|of|on|exceeded)|(?:sending|hourly|daily) (?:limit|quota)|deferred due|try your mail|slow down|try again later)\b`,
  String.raw`\b(?:non-?ascii|8-?bit|bare (?:lf|cr)|line (?:too )?long|syntax|malformed|not implemented|bad sequence|unrecogni[sz]ed command|duplicate (?:header|from)|no (?:valid )?from|missing (?:header|date|from|message)|single from|mime|executable|encrypted|zip)\b`,
);

/** Said before anybody was named, and so about whoever came: by the address it comes from, or by its name. */
const SAYS_UNWELCOME = any(
  String.raw`\brefused to talk to me\b|\[(?:connect|greeting|helo|ehlo)\]|\bbut (?:greeting failed|my name was rejected|sender was rejected)\b`,
  String.raw`\b(?:after|in reply to|response to|performing the) (?:initial connection|connect|connection|helo|ehlo|greeting|banner|end of greeting)\b|\brequested action aborted(?!: (?:local|exceeded))`,
);

/** RFC 5321's own words for an address that is not served, which mean it where they answer RCPT. */
const SAYS_UNAVAILABLE = /\brequested (?:mail )?action not taken:? mailbox (?:unavailable|not found)\b/;

/** "The mailbox did not want it": filters of the recipient, said without a reason. */
const SAYS_FILTERED = any(
  String.raw`\b(?:recipient|user|mailbox|address|account)\b(?: \S+){0,4} (?:refus\w+|reject\w*|not accept\w*|does not (?:accept|want|wish)|unable to accept|denies|denied|cannot accept|not able to)`,
  String.raw`\bmailbox (?:unavailable|not available|busy)\b|\bdue to (?:user|domain|recipient) (?:filter|setting|preference)|\bnot accepting (?:mail|messages)|\brecipient (?:rejected|refused|filter)`,
);

/** So plain that a word such as "not accepted" beside it takes nothing from it. */
const SAYS_NOBODY = any(
  String.raw`\b(?:user|mailbox|recipient|account) (?:is )?(?:not found|unknown|does not exist|doesn't exist)\b`,
  String.raw`\b(?:no such|unknown|invalid) (?:local )?(?:user|mailbox|recipient)\b|\bno mailbox here by that name\b`,
);

export const STRONG_RULES: readonly Rule[] = [
  { class: 'policy', phrase: SAYS_TOO_LARGE },
  { class: 'soft', phrase: SAYS_FULL_TOO },
  { class: 'soft', phrase: SAYS_FULL },
  { class: 'policy', phrase: SAYS_NO_RELAYING },
  { class: 'policy', phrase: SAYS_WHO_ARE_YOU },
  { class: 'infrastructure', phrase: SAYS_NO_ANSWER_OF_DNS },
  { class: 'hard', phrase: SAYS_NO_HOST, about: 'host' },
  { class: 'policy', phrase: SAYS_TOO_FAST },
  { class: 'hard', phrase: SAYS_NOBODY },
  { class: 'policy', phrase: SAYS_UNWANTED },
  { class: 'soft', phrase: SAYS_SUSPENDED },
  { class: 'hard', phrase: SAYS_UNKNOWN },
  { class: 'hard', phrase: SAYS_UNKNOWN_TOO },
];

/** Words that say less than a definite status, and more than a vague one. */
export const WEAK_RULES: readonly Rule[] = [
  { class: 'policy', phrase: SAYS_UNWELCOME },
  { class: 'infrastructure', phrase: SAYS_NOT_REACHED },
  { class: 'hard', phrase: SAYS_UNAVAILABLE },
  { class: 'soft', phrase: SAYS_FILTERED },
  { class: 'policy', phrase: SAYS_UNWANTED_TOO },
  { class: 'infrastructure', phrase: SAYS_BROKEN },
];
