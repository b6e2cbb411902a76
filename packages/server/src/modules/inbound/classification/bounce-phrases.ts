/**
 * The titles that mail systems give to a report of an undelivered or delayed email, in at least the languages of `recipient-texts`. `\b` is
 * ASCII only, so words that begin or end with a non-ASCII character do without it.
 */

const WARNING = String.raw`^[\s\p{P}]{0,5}(?:\[?(?:auto|warning|error|notice|attention|spam|achtung|warnung|fehler|avis|aviso|advertencia|avviso|atenção|waarschuwing|警告|تنبيه|تحذير)\]? ?[:：-]? ?)?`;
const TITLES = [
  // English
  String.raw`(?:e-?mail |message |mail )?undeliver(?:able|ed)\b|(?:mail|e-?mail|message) (?:delivery (?:\S+ )?|system |is |was )?(?:fail\w*|error|not delivered|undeliver\w*|bounced|delayed)\b|message \S+ (?:is |has been )?delayed\b|delayed mail\b|mail delivery (?:\S+ )?(?:problem|status|(?:sub)?system)\b`,
  String.raw`delivery (?:status notification|failure|failed|has failed|incomplete|delayed|notification: delivery)\b|delivery (?:to|of) .{1,100} (?:has |is |was )?(?:failed|delayed|incomplete)\b|non-?[ ]?delivery (?:report|notification|receipt|notice)|non-?[ ]?deliverable (?:mail|e-?mail|message)\b|returned (?:mail|e-?mail|message|to sender)\b|failure notice\b|bounced (?:mail|e-?mail|message)\b|(?:ndr|ndn|dsn) ?:`,
  String.raw`(?:could not|couldn't|cannot|can't|unable to) (?:be )?deliver\w*(?: your| the| this)? (?:mail|e-?mail|message)\b|(?:(?:your|the|this|an?) )?(?:mail|e-?mail|message) (?:to .{1,100} )?(?:could not|couldn't|cannot|can't|was not|wasn't|has not|hasn't) (?:be |been )?(?:yet )?(?:be |been )?deliver`,
  // German, Dutch
  String.raw`(?:unzustellbar|nicht zustellbar)|(?:e-?mail|mail|nachricht) (?:\S+ ){0,3}(?:nicht zugestellt|unzustellbar)|zustell(?:ungs?)?(?:fehler|status|bericht)|fehler bei der (?:nachrichten|mail|e-mail-)?zustellung|(?:fehlgeschlagene|verzögerte) (?:\p{L}*zustellung|übermittlung)|\p{L}{0,20}(?:zustellung|übermittlung)(?: \S+){0,3} (?:fehlgeschlagen|verzögert|gescheitert|nicht möglich)|(?:benachrichtigung|bericht) (?:über|zum) (?:\S+ )?(?:übermittlungs|zustell(?:ungs)?)status`,
  String.raw`onbestelbaar|niet (?:bestelbaar|bezorgd|afgeleverd)|(?:bezorging|aflevering|levering|verzending)(?: \S+){0,3} (?:mislukt|vertraagd|niet mogelijk)|(?:melding|bericht|kennisgeving) (?:over|van|met) (?:de )?(?:bezorg|lever|aflever)\S{0,10}status|(?:bezorg(?:ings)?|afleverings?|leverings?)-?status|(?:bericht|e-?mail|mail) (?:is |kon )?(?:niet (?:bezorgd|afgeleverd|worden bezorgd)|vertraagd|geretourneerd)|vertraagde bezorging`,
  // French, Spanish, Portuguese, Italian
  String.raw`non (?:remise?\b|distribu)|(?:message|courrier|e-?mail) non (?:distribu|remis|d[ée]livr|achemin)|[ée]chec (?:de |lors de )?(?:l[ae] |l.)?(?:remise|distribution|envoi du (?:message|courrier)|transmission)|(?:remise|distribution)(?: \S+){0,2} (?:(?:en )?retard|[ée]chou|impossible)|(?:notification|avis|rapport) (?:d.[ée]tat|de l.[ée]tat|d.[ée]chec|du statut|de statut|de non)[ -](?:de )?(?:la )?(?:remise|distribution)|impossible (?:de (?:remettre|distribuer)|d.envoyer) (?:un|le|votre|ce) (?:message|courrier)|votre (?:message|courrier) n.a pas (?:pu [êe]tre|[ée]t[ée]) |message retard[ée]`,
  String.raw`no se (?:puede|pudo|ha podido) entregar|(?:(?:correo|mensaje)(?: electr[oó]nico)? )?(?:no entregad|devuelto al remitente)|(?:correo|mensaje)(?: electr[oó]nico)? (?:devuelto|rechazado|retrasado)|entrega(?: \S+){0,2} (?:retrasada|demorada|fallida|imposible)|(?:error|fallos?|falla) (?:de|en) (?:la )?entrega|notificaci[oó]n (?:de|del|sobre el) estado de (?:la )?entrega|informe de no entrega|(?:su|tu) mensaje no (?:se|fue|ha)`,
  String.raw`n[ãa]o (?:é|foi) poss[íi]vel (?:a entrega|entregar)|(?:(?:mensagem|e-?mail|correio) )?n[ãa]o entregue|(?:mensagem|e-?mail|correio) (?:devolvid|atrasad|retornad)|(?:falha|erro|atraso) (?:na|de|ao) (?:entrega|entregar)|entrega(?: \S+){0,2} (?:atrasada|adiada|falhou|falhada)|notifica[çc][ãa]o (?:de|do|sobre o) (?:status|estado) (?:de|da) entrega|devolvid[oa] ao remetente|imposs[íi]vel entregar`,
  String.raw`non (?:recapitabil|recapitat)|(?:messaggio|e-?mail|posta) non (?:recapitat|consegnat)|(?:recapito|consegna)(?: \S+){0,2} (?:non riuscit[oa]|fallit[oa]|ritardat[oa]|impossibile)|mancat[oa] (?:recapito|consegna)|impossibile (?:recapitare|consegnare)|notifica (?:sullo |dello |di )?(?:stato|mancat[oa]) ?(?:del(?:la)? |di )?(?:recapito|consegna)|(?:errore|ritardo) (?:di|nel|nella) (?:recapito|consegna)|(?:messaggio|posta) (?:restituit|respint)`,
  // Japanese, Arabic
  String.raw`配信(?:不能|不可|エラー|失敗|に失敗|(?:の)?遅延|(?:が)?遅れ|(?:でき|され)(?:ませ|な|ず)|状態|状況|ステータス)|(?:メール)?送信(?:エラー|失敗|に失敗|でき(?:ませ|な|ず))|(?:メール|メッセージ)(?:を|は|が|の)(?:配信|送信)(?:(?:でき|され)(?:ませ|な|ず)|に失敗|エラー|遅延|の遅延)|未配(?:信|達)|不達|宛先不明|エラーメール|返送されたメール`,
  String.raw`(?:تعذر|يتعذر|لا يمكن|فشل|فشلت|لم يتم|تأخر|تأخير|تأجيل)(?: في)? (?:ال|عملية )?(?:تسليم|توصيل)|(?:تعذر|فشل|لم يتم) (?:ال)?إرسال (?:ال)?(?:رسال|بريد)|غير (?:قابلة?|قابل) للتسليم|(?:إشعار|إعلام|إخطار|تقرير) (?:ب|عن )?(?:حالة|عدم|تأخر|فشل) (?:ال)?(?:تسليم|توصيل)|(?:ال)?(?:رسالة|بريد)(?: \S+)? (?:مرتجع|مرتد|لم تصل|لم يتم تسليم)`,
  // Polish, Russian, Ukrainian, Turkish
  String.raw`nie (?:można|udało się) dostarczy|niedostarcz|(?:wiadomość )?nie (?:została )?dostarczon|(?:powiadomienie|raport) o (?:stanie|statusie|niepowodzeniu|opóźnieniu) dostarcz|dostarczenie(?: \S+){0,2} (?:opóźnione|nie powiodło)|opóźnion[ey] dostarcz|opóźnienie dostarcz|zwrot (?:wiadomości|poczty)`,
  String.raw`недостав|(?:сообщение |письмо |повідомлення )?не доставлено?|(?:не уда[её]тся|не удалось|невозможно) доставить|(?:уведомление|отч[её]т) о (?:состоянии|статусе|задержке)? ?(?:недоставк|доставк)|(?:ошибка|сбой|задержка) (?:при )?доставк|доставка(?: \S+){0,3} (?:отложена|задерж|не удалась|невозможна)|возврат (?:письма|почты)`,
  String.raw`teslim (?:edileme|edilmedi|durumu|gecik)|teslimat(?: \S+){0,2} (?:başarısız|gecik|durumu|hatası)|(?:ileti|mesaj|e-?posta)\S{0,5} (?:\S+ ){0,3}(?:teslim edileme|iletileme|gönderileme)|[iİ]letileme`,
  // Scandinavian languages, Finnish, Czech, Chinese, Korean, Hebrew
  String.raw`(?:kunde|kan|det går) inte (?:\S+ )?lever|olevererbart|kan ikke lever|ikke lever(?:t|et)\b|uleverbar|levering\S{0,4} (?:mislykk|forsink)|ei voi(?:da|tu) toimittaa|toimitus (?:epäonnistui|viivästyi)|nedoručiteln|nedoručen`,
  String.raw`(?:系统)?退信|(?:邮件|郵件)(?:退回|被退|发送失败)|(?:无法|無法|未能|未)(?:送达|投递|传递|傳遞|送達|投遞)|(?:投递|递送|傳遞|传递|送达|遞送)(?:失败|失敗|状态|狀態|延迟|延遲)|배달 ?(?:되지|못|실패|불가|할 수|지연|상태)|반송|(?:전송|전달) ?(?:실패|되지)|לא ניתן למסירה|(?:ה)?הודעה לא נמסרה`,
];
const TITLE = new RegExp(`${WARNING}(?:${TITLES.join('|')})`, 'iu');

/** Parcels are delayed and returned as well. */
const PARCEL =
  /\b(?:parcel|package|order|shipment|pa[kc]?ket|sendung|bestellung|lieferung|colis|commande|livraison|pedido|paquete|encomenda|pacco|ordine|spedizione|pakje|bestelling|paczk|zamówieni)|荷物|注文|طلب|طرد|شحن|посылк|заказ|kargo|sipariş|包裹|订单|택배|주문/iu;

const TITLE_CHARS_MAX = 300;

/** Returns whether a title is used only for delivery reports, so that no other sign is needed. */
export function isClearBounceTitle(title: string): boolean {
  const head = title.slice(0, TITLE_CHARS_MAX);
  return TITLE.test(head) && !PARCEL.test(head);
}

/** Returns whether a title looks like one of a delivery report in a language other than English. */
export function isTranslatedBounceTitle(title: string): boolean {
  return TITLE.test(title.slice(0, TITLE_CHARS_MAX));
}

/** Phrases of an undelivered email in reports of other languages. They allow few words in between, because a verb ends the sentence. */
export const UNDELIVERED_ABROAD = [
  String.raw`nicht (?:\S{1,80} ){0,4}zugestellt|unzustellbar|nachrichtenzustellung|zustellung (?:\S{1,80} ){0,5}(?:fehlgeschlagen|verzögert)`,
  String.raw`niet (?:\S{1,80} ){0,3}(?:bezorgd|afgeleverd|besteld)|onbestelbaar|(?:bezorging|aflevering) (?:\S{1,80} ){0,4}(?:mislukt|vertraagd)`,
  String.raw`n.a pas (?:encore |pu )?(?:[ée]t[ée]|[êe]tre) (?:remis|distribu|d[ée]livr|transmis)|[ée]chec de (?:la )?(?:remise|distribution)|remise (?:\S{1,80} ){0,4}retard`,
  String.raw`no se (?:ha|han|pudo|puede|ha podido) entrega|no (?:fue|pudo ser|ha sido) entregad|error de entrega|entrega (?:\S{1,80} ){0,4}retrasad`,
  String.raw`n[ãa]o (?:foi|p[ôo]de ser|foi poss[íi]vel) entreg|falha na entrega|entrega (?:\S{1,80} ){0,4}atrasad`,
  String.raw`non (?:è (?:ancora )?stat[oa]|può essere|è stato possibile) (?:recapita|consegna)|recapito non riuscito|(?:recapito|consegna) (?:\S{1,80} ){0,4}ritardat`,
  String.raw`(?:配信|送信|お届け)(?:(?:でき|され)(?:ませ|な|ず|ていませ)|不能|に失敗|が遅)|(?:لم يتم|تعذر|يتعذر|فشل|تأخر) (?:ال)?(?:تسليم|توصيل)|لم (?:تُسلَّم|تسلم|تصل) (?:ال)?رسال`,
  String.raw`nie (?:\S{1,80} ){0,2}dostarczon|nie (?:można|udało się) dostarczy|не доставлено|не (?:удалось|уда[её]тся) доставить|не было доставлено|teslim edil(?:e)?medi|iletilemedi`,
];

/** Phrases of continued attempts, as in `WILL_RETRY` of free reports. */
export const RETRIED_ABROAD = [
  String.raw`noch nicht zugestellt|(?:zustellung|übermittlung) (?:\S{1,80} ){0,4}verzögert|wird (?:weiterhin|erneut) (?:\S{1,80} ){0,4}(?:versucht|versuchen)`,
  String.raw`nog niet (?:bezorgd|afgeleverd)|(?:bezorging|aflevering) (?:\S{1,80} ){0,4}vertraagd|opnieuw (?:worden )?geprobeerd`,
  String.raw`n.a pas encore [ée]t[ée] (?:remis|distribu|d[ée]livr)|(?:remise|distribution) (?:\S{1,80} ){0,4}(?:retard[ée]e|en retard)|nouvelles? tentatives? `,
  String.raw`(?:a[uú]n|todav[ií]a) no se ha entregad|entrega (?:\S{1,80} ){0,4}(?:retrasad|demorad)|se (?:seguir[aá]|volver[aá] a) (?:\S{1,80} )?intent`,
  String.raw`ainda n[ãa]o foi entregue|entrega (?:\S{1,80} ){0,4}(?:atrasad|adiad)|continuar(?:á|emos|ão)? (?:a )?tentar|tentar(?:á|emos) novamente`,
  String.raw`non è ancora stat[oa] (?:recapitat|consegnat)|(?:recapito|consegna) (?:\S{1,80} ){0,4}ritardat|(?:altri|nuovi|ulteriori) tentativi`,
  String.raw`配信(?:が|の|は)?(?:遅延|遅れ)|まだ(?:配信|お届け)|再試行|(?:تأخر|تأخير) (?:ال)?تسليم|لم يتم (?:ال)?تسليم\S{0,10} بعد|(?:سيتم|سنحاول|سنستمر|سيستمر)[^.]{0,30}(?:ال)?محاولة`,
];
