import { any, words } from './phrase.ts';

/** The email exceeds the size limit of the server. It is not about the mailbox. */
export const SAYS_TOO_LARGE = any(
  String.raw`\b\w*(?:recip|send|msg|message)sizelimit\w*\b|\bdatabytes limit\b`,
  String.raw`\b(?:message|mail|e-?mail|size|header|body|content|attachments?|letter)\b.{0,30}\b(?:too (?:large|big)|larger than|exceed\w* (?:the |a |our |its |\S+'s )?(?:fixed |maximum |max |allowed |allowable |permitted |administrative |configured |incoming |message |system |server |global )*(?:size|length|permitted|allowed|message size))\b`,
  String.raw`\b(?:message|maximum|max|mail|e-?mail) (?:file |message |e-?mail |mail )?(?:size|length)\b.{0,40}\b(?:exceed\w*|limit)`,
  String.raw`\b(?:exceed\w*|over|above) (?:the |our )?(?:fixed |maximum |max |allowed )*(?:message|e-?mail|mail)(?: size)? (?:size|limit)`,
);

/** Sender and recipient are the same mailbox, which the server refuses on this path. */
export const SAYS_TO_YOURSELF = any(
  String.raw`\b(?:cannot|can not|can't|may not|must not|not (?:allowed|permitted) to) send (?:an? |any )?(?:e-?mails? |mails? |messages? )?to yourself\b`,
);

/** The sender is refused, whatever command the answer is for: words such as "does not exist" are about the sender then. */
export const SAYS_SENDER_REFUSED = any(
  String.raw`\b(?:(?<!\bto (?:the )?)sender|mail from|(?:return|reverse)[- ](?:path|address)|envelope from|originator|from address)\b(?:'s)?:?${words(6)} (?:rejected|refused|denied|invalid|verify failed|unauthori[sz]ed|disallowed|not (?:accepted|allowed|authori[sz]ed|permitted|owned|verified|found|valid|exist|pre-approved|resolve)|does ?n.t (?:exist|resolve)|does not (?:exist|resolve)|must (?:exist|resolve)|blocked|blacklisted|prohibited|unknown|required|failed|forged|unverif\w+|blocklist\w*)\b`,
  String.raw`\b(?:invalid|bad|unknown|unroutable|unauthori[sz]ed|unverified|null|empty|rejected|forged|suspicious|banned|blocked|illegal) (?:envelope |mail )?(?:sender|mail from|originator|(?:return|reverse)[- ](?:path|address))\b|\bsender verif\w+\b|\bverification failed for address\b|\bcallback setup failed\b`,
  String.raw`\bdomain (?:of sender|name required)\b|\bsender domain\b|\bbadmailfrom\b|\benvelope sender\b|\bemail address is not verified\b|\bbad outbound sender\b|\bnot owned by (?:auth )?user\b|\bbatv\b|\bbackscatter\b|\bbounce attacks?\b|\bmay be forged\b|\brelaying disallowed as\b|\b(?:header from|from header|from field|in mail from|your (?:e-?mail )?address)\b`,
);

/** The server belongs to other clients, and we are not among them. */
export const SAYS_NO_RELAYING = any(
  String.raw`\brelay(?:ing)?(?: operation| access)? (?:is )?(?:denied|not (?:permitted|allowed)|prohibited|rejected|disallowed|attempt)`,
  String.raw`\b(?:unable|not permitted|not allowed|permitted|cannot|refus\w+|authori[sz]ed|attempt\w*|as a) (?:to )?(?:use \S+ as a )?relay\b|\b(?:we )?do(?:es)? not relay\b|\b(?:open|insecure mail) relay\b|\bas a relay\b`,
  String.raw`\b(?:smtp )?authentication (?:is )?required\b|\bmust (?:first )?(?:authenticate|be authenticated)\b|\bsend auth\b|\bsmtp authentication\b|\bnot a gateway\b|\b(?:my|our) list of allowed rcpthosts\b|\bfailed to authenticate\b|\bcredentials\b|\bor password\b|\brcpthosts\b`,
);

/**
 * Postfix gives this answer to every recipient if its last restriction or a table of clients rejects the client. Matches only at the
 * beginning, because a relay may quote the answer of a server behind it about one recipient.
 */
export const SAYS_NO_CLIENT = /^(?:[45]\.\d{1,3}\.\d{1,3} )?(?:address: ?)?client host rejected\b/u;
export const SAYS_NOBODY_FROM_YOU =
  /^[45]\.7\.1 (?:address: ?)?recipient address rejected: ?access denied\b/u;

/** Our own host has no name, or a bad one. */
export const SAYS_WHO_ARE_YOU = any(
  String.raw`\b(?:find|resolve|verify|look ?up|identify|recogni[sz]e|accept mail from) (?:your|the client|client|sender)(?:'s)?\b|\bclient host (?:rejected|blocked)|\bhelo command rejected\b|\binvalid (?:helo|ehlo|ip)\b|\bin (?:helo|ehlo)\b|\b(?:helo|ehlo) name\b|\brdns\b|\byour domain\b`,
  String.raw`\b(?:no|missing|invalid|without|have|has|bad|fix|valid|a|requires?) (?:a |valid |an |your |dns )*(?:ptr|reverse|rdns)\b|\b(?:ptr|rdns)\b.{0,20}\b(?:record|missing|required|mismatch)|\breverse (?:dns|lookup|hostname|name)\b|\bno valid (?:host ?name|sender host)\b`,
  String.raw`\b(?:ip|client|source) address (?:is |was |has been )?(?:rejected|refused|denied)\b|\byour (?:server|ip|hostname|host name|mail server|mta|mail from)\b|\btemporarily deferred\b|\buser complaints\b|\bconnections? (?:will )?not (?:be )?accepted from\b|\b(?:dial-?up|dynamic) (?:ip|address|host|pool|space)`,
);

/** We sent more emails in a time than the server accepts from us. */
export const SAYS_TOO_FAST = any(
  String.raw`\b(?:rate|frequency|traffic|volume)[- ]?limit\w*|\bthrottl\w*|\b(?:gr[ea]y[- ]?list\w*)|\btoo many (?:messages|e-?mails|mails|letters|recipients|invalid recipients|unknown|errors|bad commands|rcpt)\b(?! (?:on|in) )|\btoo (?:fast|quickly|much mail)\b`,
  String.raw`\b(?:sending|hourly|daily|per hour|connection rate|mail send|outbound|recipients?) (?:rate |rate-|user |message |recipient |sending |quota )*(?:limit|quota|rate)\b|\bmaximum (?:sending rate|number of (?:messages|recipients|emails))\b|\bslow down\b|\bunusual (?:rate|sending|volume|traffic)\b|\bat a rate\b|\brate (?:of|that|exceed\w*)\b|\bper hour\b|\be-?mail quota exceeded\b|\bper (?:day|minute)\b|\bdaily\b.{0,20}\bquota\b|\bdynamic throttle\b`,
);

/** Definite words about the email or its sender: lists, reputation, authentication, spam, viruses. */
export const SAYS_UNWANTED = any(
  String.raw`\b(?:spam|spammer|spammers|spamming|junk|junkmail|unsolicited|phish\w*|malware|virus\w*|infected|worm|trojan|spam-like)\b`,
  String.raw`\b(?:block[- ]?list\w*|black[- ]?list\w*|deny[- ]?list\w*|black list\w*|dnsbl|rbl|reputation|banned|spamhaus|spamcop|sorbs|uceprotect|barracuda\w*|senderbase|cloudmark|proofpoint|is listed (?:in|by|at|on)|listed (?:in|at) (?:host|link))\b|\bblocked\b(?! by the (?:recipient|user))|\bblocking\b`,
  String.raw`\b(?:spf|dkim|dmarc|authentication results?|unauthenticated|not authenticated|not (?:did )?authenticate|sender (?:id|policy)|required authentication)\b`,
  String.raw`\b(?:policy|policies|prohibited|prohibition|not authori[sz]ed|unauthori[sz]ed|notauthori[sz]ed|permission|administrative(?:ly)?|security (?:reasons?|problem|policies))\b`,
  String.raw`\b(?:content|attachment|message) (?:was |is |has been |are )?(?:rejected|refused|denied|filtered|blocked)\b(?! (?:by|due to) (?:the )?(?:recipient|user))|\bcontent (?:restriction|filter)`,
  String.raw`\brfc[ -]?(?:282[12]|532[12])\b|\b(?:rfc[- ]complian|non-?complian)\w*|\bvalid message-?id\b|\bmultiple from\b|\bduplicate header\b|\bmx records? (?:of|for) (?:your|sender)`,
);

/** Groups and lists, which accept emails from their members only. */
export const SAYS_NOT_OF_THE_LIST = any(
  String.raw`\b(?:post(?:ing|s)?|messages?|letter|submi\w+)\b${words(5)} (?:to|on|by|from|in) (?:\S+ ){0,3}(?:list|group|non-?members?|newsgroup)\b|\bnot (?:a |an )?(?:\S+ )?(?:member|subscriber|subscribed)\b|\b(?:subscribers?|members?) only\b|\bonly (?:\S+ )?(?:members|subscribers)\b|\bposting not allowed\b|\bgroup you tried to contact\b|\bmailing list\b.{0,60}\b(?:reject\w*|refus\w*|not allowed|denied|moderat\w*)|\bmember of th(?:is|e) (?:list|group)\b`,
);

/** Blocklists and filters answer with nothing but a page that explains the listing. No server refuses a recipient in this way. */
export const SAYS_LINK_ALONE = /^\W*(?:[45]\.\d{1,3}\.\d{1,3} )?(?:(?:please )?(?:see|visit):? )?link\W*$/u;

/** Words that are probably about the email or its sender. */
export const SAYS_UNWANTED_TOO = any(
  String.raw`\b(?:spam\w*|uce|ube|bulk|suspicious|suspected|forged|spoof\w*|fraud\w*|abus\w+|objectionable|offensive|complaints?|dangerous|harmful)\b|\bdt:spm\b|\baup#`,
  String.raw`\b(?:block(?:ed|ing|s)?|listed (?:in|on|by|at)|(?:white|gray|grey)[- ]?list\w*|permanently deferred)\b`,
  String.raw`\b(?:arc|domainkeys|senderid|authenticated|authentication|domain of \S+ does not designate|ptr|helo|ehlo|fqdn|fcrdns|your (?:ip|host|domain|address|message|server|mail|email|e-mail|access)\b.{0,40}\b(?:rejected|refused|denied|not (?:allowed|accepted|permitted)))\b`,
  String.raw`\b(?:authrequired|accessdenied|prohibit\w*|not (?:authori[sz]ed|allowed|permitted|acceptable|accepted|allow)|permission to|administrator|restricted|restriction\w*|security|unacceptable|violat\w+|compl(?:y|iant|iance)|access denied|denied access|denied by|disallowed|forbidden|transport rules?|moderat\w+|only accepts?)\b`,
  String.raw`\b(?:content|contents|attachments?|message|mail|e-?mail|letter|header|body|subject|from|sender|client|domain|ip|host|connection|originator|headers)\b${words(5)} (?:rejected|refused|not accept\w*|denied|filtered|banned|dropped|discarded|disallowed|blocked|not allowed|unacceptable|malformed|invalid|illegal|missing|declined)\b`,
  String.raw`\b(?:rejected|refused|denied|rejecting|filtered|declined) (?:by|due|because|for|as|from|message|your|the message|this message|content|on)\b|\bmessage (?:bounced|content)|\bfilter(?:ed|s|ing)?\b.{0,30}\b(?:message|content|rejected)`,
  String.raw`\b(?:too many|too much|excessive|deferred due|try your mail)\b|\b(?:non-?ascii|8-?bit\w*|bare (?:lf|cr)|line (?:too )?long|syntax|malformed|not implemented|bad sequence|unrecogni[sz]ed command|duplicate (?:header|from)|no (?:valid )?from|missing (?:header|date|from|message)|single from|mime|executable|encrypted|zip|smtplf)\b`,
);
