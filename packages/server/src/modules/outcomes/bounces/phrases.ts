/** Builds an expression for texts from `normaliseReply`: short, in lower case, without addresses, hosts, links and ids. */
export const any = (...phrases: string[]): RegExp => new RegExp(phrases.join('|'), 'u');

/** The nouns that servers use for a recipient. */
const WHO = String.raw`(?:users?|user ?names?|user ?ids?|recipients?|mail ?box(?:es)?|inbox|addresse?e?s?|accounts?|alias|person|subscriber|e-?mail|local[- ]?part|login|destination|customer|name)`;

/** Matches up to `max` words between two others, within a sentence. */
const words = (max: number): string => String.raw`(?: [^\s.;]+){0,${max}}`;

/** The plainest words for an unknown recipient. They precede the rules about spam, which look at the whole text. */
export const SAYS_NO_SUCH_RECIPIENT = any(
  String.raw`\b(?:user|mail ?box|recipient|account) (?:is |was )?(?:not found|unknown|does not exist|doesn't exist|not exists?)\b(?! (?:or|for|in the sender))`,
  String.raw`\b(?:no such|unknown|invalid|nonexistent) (?:local )?(?:user|mail ?box|recipient)\b(?!s)|\bno mail ?box here by that name\b|\baccount or domain may not exist\b|\bno valid recipients for this\b`,
);

/** An address that is no longer in use. An inactive account or mailbox may come back; an inactive address does not. */
export const SAYS_ABANDONED = any(
  String.raw`\brecipient (?:is )?no longer on (?:this |the |our )?server\b|\b(?<!temporarily |currently )inactive (?:e-?mail|mail|recipient) address\b|\bnot an? active (?:e-?mail )?address\b`,
  String.raw`\b(?:e-?mail|mail|recipient) address(?: (?!temporarily\b|currently\b)[^\s.;]+){0,4}? (?:inactive|not active|no longer active)\b`,
);

/** Unknown, invalid, not in a directory, moved away: verbs and nouns in either order. */
export const SAYS_UNKNOWN = any(
  String.raw`\b(?!no (?:valid )?recipients\b)(?:no|not an?|unknown|unknow|invalid|illegal|incorrect|undefined|unrecogni[sz]ed|bad|wrong|non-?exist\w*|inexistent|undeliverable|unroute?able|unresolvable) (?:such )?(?:(?:local|virtual|destination|e-?mail|mail|known|valid|registered|final delivery|relay|smtp|rcpt|unix|system|or \w+) ){0,3}${WHO}\b`,
  String.raw`\bno such (?:\S+ ){0,2}(?:${WHO}|local|object|entry|here)\b|\bnosuch(?:user|recipient)\b|\brecip\w*notfound\b`,
  String.raw`\b${WHO}\b(?:'s|s)?,?${words(8)} (?:unknown|unknow|invalid|not (?:be )?(?:found|located|known|recogni[sz]ed|registered|valid|listed|available here|exists?|existing)|couldn'?t be found|wasn'?t found|isn'?t (?:valid|listed|known)|no longer (?:exists?|valid|available|in use|here|on)|non-?existent|not present|does ?n[o']t exist|doesn't exist|do(?:es)? not exist|not in (?:\S+ ){0,3}(?:list|directory|database))\b`,
  String.raw`\b(?:(?:could|can|did|does|do)(?: ?n['o]t|n't| not)|cannot|unable to|failed to) (?:find|locate|resolve|recogni[sz]e|identify|match) (?:\S+ ){0,4}${WHO}\b`,
  String.raw`\b(?:does not|doesn't|do not|don't|did not) (?:have|handle|know|recogni[sz]e) (?:\S+ ){0,4}(?:${WHO}|here)\b`,
  String.raw`\bno (?!valid recipients)(?:\S+ )?(?:${WHO}|one|home|match\w*) (?:\S+ ){0,3}(?:here|by that|with (?:that|this)|of that|found|in (?:the )?(?:\S+ )?(?:directory|name))`,
  String.raw`\b(?:not|no) (?:found |listed |present |known )?in (?:\S+ ){0,4}(?:directory|address book|user list|user database|validrcptto\w*)\b|\bnot listed in\b`,
  String.raw`\bno[tn] (?:our|a local|a known|a valid|a registered|my) (?:\S+ )?(?:customer|user|address|recipient|mail ?box|account)\b|\bunknown here\b`,
  String.raw`\bthis (?:address|user|mail ?box|account|recipient) (?:no longer (?:accepts|exists|receives)|does not|doesn't)\b|\bno longer (?:on (?:this )?server|works? (?:here|for|at)|employed|with (?:us|the company))\b`,
  String.raw`\b(?:user|recipient|account|address) (?:is |has been |was )?(?:deleted|removed|retired|discontinued permanently)\b|\b(?:closed|deleted|removed) (?:account|mail ?box|user)\b`,
  String.raw`\bno ?(?:one|body) at this\b|\bbad_?rcpt_?to\b|\b(?:user|account) missing home directory\b|\bnot known at this\b|\bunavailable (?:mail )?user\b|\bnot (?:an? )?user of this\b|\bdon'?t exists?\b|\bnot an? (?:\w+ ){0,2}(?:mail ?box|user|recipient) (?:here|on)\b`,
);

/** The recipient moved to another address. */
export const SAYS_MOVED = any(
  String.raw`\b(?:user|recipient|account|mail ?box|address|person|customer) (?:has |have )?(?:moved|changed|left)\b|\bhas (?:moved|changed (?:his|her|their|its)|left) (?:to|the|address\w*)\b|\buser not local\b|\bnew (?:e-?mail )?address is\b|\bnot our (?:user|customer)\b`,
);

/** The name servers of the domain did not answer properly. */
export const SAYS_NO_ANSWER_OF_DNS = any(
  String.raw`\b(?:name ?server|name service|dns|resolver|lookup)\b.{0,80}\b(?:malformed|unexpected|servfail|server failure|try again|timed? ?out|timeout|time-out|refused|temporar\w+|did not complete)\b`,
  String.raw`\b(?:host|domain) ?name lookup (?:failure|failed)\b|\btemporary (?:failure in name|dns|name server|lookup)\b|\bdns query failed\b|\bmalformed (?:or unexpected )?name server\b`,
);

/** The domain does not exist, or accepts no mail. */
export const SAYS_NO_HOST = any(
  String.raw`\b(?:host or domain|domain|hostname|host name|host address|destination (?:host|server|system)|mail server|e-?mail system)\b(?: (?:name|the|recipient|host|of|in|for|to)){0,4}(?: [^\s.;:]+){0,2} (?:unknown|not found|does ?n.t exist|does not exist|non-?existent|invalid|(?:could|can)(?:not| ?n.t| not) be (?:found|resolved|located)|(?:was|were) not found|unresolvable|not known|does not resolve)\b`,
  String.raw`\bhost (?:is )?(?:unknown|(?:was )?not found|does not exist|doesn't exist|could not be found|cannot be found)\b|\b(?:host|domain)unknown\b|\bhost names? (?:was|were) not found`,
  String.raw`\b(?:unknown|no such|invalid|illegal|non-?existent|nonexistent|unroute?able|unresolvable|bad destination) (?:mail |recipient |host or |destination )?(?:host|domain|hostname|system|site)\b|\bnxdomain\b`,
  String.raw`\b(?:couldn'?t|could not|cannot|can'?t|unable to) (?:find|resolve|locate) (?:any |a |the )?(?:host|domain|hostname|mx|mail exchange\w*|exchanger)`,
  String.raw`\bdomain(?: name)? not found\b|\b(?:name or service|nodename nor servname)\b.{0,20}\bnot known\b|\breserved by rfc ?2606\b|\bno (?:mx|mail exchanger)(?: or a)?(?: (?:records?|hosts?))? (?:found )?for\b|\bno (?:a|dns|mx) records?\b`,
  String.raw`\b(?:null ?mx|indicated no smtp service|infodomainnonexistent|infonorecords|nonexistentdomain|host address lookups failed permanently|mail receiving disabled|domain must exist)\b`,
  String.raw`\b(?:host|domain) (?:host )?(?:does not|doesn't) (?:accept|receive) (?:any )?(?:e-?)?mails?\b(?! from)|\bmx records? points? to (?:non-?existent|host|nothing|an? invalid)|\ball relevant mx records\b`,
  String.raw`\bname server: ?:? ?(?:host|domain|id)?\.?:? ?(?:host |domain )?(?:not found|no data known)|\bno route to domain\b|\bdomain (?:is )?not reachable\b|\bdomain mentioned in\b.{0,30}\bunknown\b`,
);

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
export const SAYS_RECIPIENT_DENIED =
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
