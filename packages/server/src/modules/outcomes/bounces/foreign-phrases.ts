import { any } from './phrases.ts';

/**
 * The phrases of the other files in other languages: a noun, then the problem with it. The languages are at least those of
 * `recipient-texts`. `\b` is ASCII only, so scripts without spaces and words that begin with a non-ASCII character do without it.
 */

export const UNKNOWN_ABROAD = any(
  // German, Dutch
  String.raw`(?:benutzer|empfänger|empfaenger|adresse|postfach|konto|nutzer)\b.{0,60}(?:unbekannt|existiert nicht|nicht (?:gefunden|bekannt|vorhanden)|ungültig)|unbekannte[rn]? (?:benutzer|empfänger|adresse)|kein(?:e[nrs]?)? (?:solche[nrs]? )?(?:benutzer|empfänger|postfach|konto)`,
  String.raw`(?:gebruiker|adres|ontvanger|postbus)\b.{0,40}(?:onbekend|bestaat niet|niet gevonden)|onbekende? (?:gebruiker|ontvanger|adres)|geen (?:dergelijke |zodanige )?(?:gebruiker|ontvanger|postbus)`,
  // French, Spanish, Portuguese, Italian
  String.raw`(?:utilisateur|destinataire|adresse|bo[iî]te|compte)\b.{0,60}(?:inconnue?|n.?existe p(?:as|lus)|n.?est p(?:as|lus) (?:valide|utilisée?|en service)|introuvable|invalide|erronée?|inexistante?|supprimée?)|aucune? (?:utilisateur|destinataire|compte|bo[iî]te|adresse)|adresse (?:e-?mail |mail |[eé]lectronique )?(?:n.?est plus active|inactive)`,
  String.raw`(?:usuario|usuário|utente|utilizador|destinat[aá]ri[oa]|direcci[oó]n|endereço|indirizzo|cuenta|conta|casella|buz[oó]n|correo|caixa)\b.{0,60}(?:desconocid[oa]|desconhecid[oa]|sconosciut[oa]|inexistente|no existe|n[aã]o existe|non esist\w*|non (?:è )?(?:valid|trovat)\w*|no (?:se )?(?:ha )?(?:sido )?encontrad[oa]|n[ãa]o (?:foi )?encontrad[oa]|inv[aá]lid[oa])`,
  String.raw`\b(?:no existe|non esiste|n[aã]o existe|nessun|ning[uú]n|nenhum) (?:(?:el|la|ese|este|esa|dich[oa]|tal|un|una?|alcun|nessun|o|uma?|esse) )?(?:usuario|persona|cuenta|buz[oó]n|destinat[aá]ri[oa]|direcci[oó]n|utente|indirizzo|casella|usuário|utilizador|endereço|conta)`,
  // Polish, Russian, Turkish
  String.raw`(?:użytkownik|adres|skrzynka|konto).{0,40}(?:nieznan|nie istnieje|nie znaleziono)|(?:kullanıcı|alıcı|adres).{0,30}(?:bulunamadı|bilinmiyor|mevcut değil)`,
  String.raw`(?:пользовател|получател|адрес|ящик|аккаунт|уч[её]тн).{0,40}(?:не (?:найден|существует|зарегистрирован|известен)|неизвест|недействител)|(?:нет|неизвестн\S+) (?:так\S+ )?(?:пользовател|получател|адрес)`,
  // Chinese, Japanese, Korean, Hebrew
  String.raw`(?:收件人|用户|用戶|邮箱|郵箱|地址|帐号|账号|账户|收信人|使用者).{0,20}(?:不存在|未找到|找不到|无效|無效|不正确)|(?:不存在|无效|無效)的?(?:收件人|用户|用戶|邮箱|地址)|查无此`,
  String.raw`(?:ユーザー?|アドレス|宛先|受信者|メールボックス|アカウント).{0,20}(?:存在しま?せん|存在しない|見つか(?:りません|らない)|(?:い|おり|あり|ござい)ません|不明|無効|誤り|正しくありません)|(?:宛先|あて先)不明`,
  String.raw`(?:사용자|수신자|주소|계정|메일함).{0,20}(?:존재하지 않|찾을 수 없|알 수 없)|(?:הכתובת|הנמען|המשתמש).{0,30}(?:לא (?:קיים|קיימת|נמצא|נמצאה|ידוע)|אינו קיים|אינה קיימת)`,
  // Arabic
  String.raw`(?:المستخدم|المستلم|المرسل إليه|العنوان|عنوان البريد|الحساب|صندوق البريد).{0,40}(?:غير (?:معروف|موجود|صالح|صحيح|مسجل)|لا وجود|لم يتم العثور|لم يعد)|لا يوجد (?:مستخدم|مستلم|حساب|عنوان|صندوق)|(?:مستخدم|مستلم|عنوان|حساب) غير (?:معروف|موجود|صالح)|(?:تعذر|لم يتم) العثور على (?:ال)?(?:مستخدم|مستلم|عنوان|حساب)`,
);

/** At most three words between a noun and its verb, without a word that makes the state temporary. */
const NEAR = String.raw`(?: (?!tempor|vorübergehend|momentan|tijdelijk)[^\s.;:]+){0,3}?`;

/** An address that was in use earlier, as in `SAYS_ABANDONED`. */
export const ABANDONED_ABROAD = any(
  String.raw`adresse\b${NEAR} (?:inaktiv|nicht (?:mehr )?aktiv)\b|\binaktive (?:e-?mail-?|mail-?)?adresse\b|\bnicht mehr auf (?:diesem|dem|unserem) (?:mail-?)?server\b`,
  String.raw`adres\b${NEAR} (?:inactief|niet (?:meer )?actief)\b|\binactief (?:e-?mail-?|mail-?)?adres\b|\bniet (?:meer|langer) op (?:de|deze|onze) (?:mail)?server\b`,
  String.raw`\badresse\b${NEAR} (?:inactive|p(?:as|lus) active)\b|\b(?:plus|pas) sur (?:le|ce|notre) serveur\b`,
  String.raw`\bdirecci[oó]n\b${NEAR} (?:inactiva|no (?:est[aá] |es )?activa)\b|\bya no (?:est[aá]|existe|se encuentra) en (?:el|este|nuestro) servidor\b`,
  String.raw`\bendereço\b${NEAR} (?:ina[ct]?tivo|não (?:est[aá] |é )?(?:mais )?a[ct]?tivo)\b|(?:não est[aá] mais|\bj[aá] não est[aá]) n(?:o|este|osso) servidor\b`,
  String.raw`\bindirizzo\b${NEAR} (?:inattivo|non (?:è )?(?:più )?attivo)\b|\bnon (?:è )?più (?:presente )?su(?:l|l nostro| questo) server\b`,
  String.raw`(?:アドレス|アカウント|ユーザー?|宛先)(?:は|が)?(?:現在)?(?:使われて|使用されて|利用されて|登録されて)(?:い|おり)ません|عنوان.{0,30}غير (?:نشط|فعال|مستخدم)`,
);

export const FULL_ABROAD = any(
  String.raw`(?:postfach|mailbox|speicher\w*|kontingent|quota|postbus)\b.{0,60}(?:\bvoll?\b|überschritten|überfüllt|erreicht)|(?:bo[iî]te|quota|messagerie|espace)\b.{0,60}(?:plein|satur[ée]|d[ée]pass[ée])|d[ée]pass[ée] .{0,20}(?:quota|limite)`,
  String.raw`(?:buz[oó]n|casilla|bandeja|cuenta|cuota|casella|caixa|conta|cota)\b.{0,60}(?:llen[oa]|superad[oa]|superado|excedid[oa]|pien[oa]\b|chei[oa]|lotad[oa]|esgotad[oa])`,
  String.raw`(?:ящик|квот|места?\b|хранилищ).{0,40}(?:переполнен|превышен|полон|заполнен|закончил)|skrzynka.{0,30}(?:pełna|przepełniona)`,
  String.raw`(?:邮箱|郵箱|信箱|容量|空间|空間).{0,12}(?:满|滿|不足|超出|超过|超過)|(?:メールボックス|容量|受信箱).{0,20}(?:一杯|いっぱい|満杯|超え|超過|オーバー|不足)|(?:메일함|용량|사서함).{0,12}(?:가득|초과|부족)|תיבת.{0,20}מלאה`,
  String.raw`(?:صندوق|علبة|مساحة|حصة|الحصة|المساحة).{0,40}(?:ممتلئ|مليء|تجاوز)|تجاوز.{0,30}(?:حصة|الحصة|مساحة|المساحة|سعة)`,
);

export const SUSPENDED_ABROAD = any(
  String.raw`(?:konto|postfach|benutzer)\b.{0,40}(?:gesperrt|deaktiviert|inaktiv)|(?:compte|bo[iî]te|destinataire)\b.{0,40}(?:archiv[ée]|suspendu|d[ée]sactiv[ée]|bloqu[ée])`,
  String.raw`(?:cuenta|conta|usuario|usuário|utente|casella)\b.{0,40}(?:suspendid[oa]|suspens[oa]|des[ah]\w*tivad[oa]|desactivad[oa]|bloquead[oa]|bloccat[oa]|sospes[oa]|disattivat[oa]|inhabilitad[oa])`,
  String.raw`(?:аккаунт|пользовател|ящик|уч[её]тн).{0,40}(?:заблокирован|отключ[её]н|неактив|приостановлен)|(?:帐号|账号|账户|用户|邮箱).{0,12}(?:停用|禁用|冻结|锁定|过期|暂停)|(?:アカウント|宛先|ユーザー?).{0,20}(?:停止|休止|ロック)`,
  String.raw`\b(?:account|postbus|gebruiker)\b.{0,40}(?:geblokkeerd|gedeactiveerd|uitgeschakeld|opgeschort)|(?:حساب|المستخدم).{0,30}(?:معطل|موقوف|معلق|مقفل|غير نشط)`,
);

/** Refused by the recipient. */
export const FILTERED_ABROAD = any(
  String.raw`受信者の設定|受信(?:を|が)?拒否|着信拒否|迷惑メール設定|收件人(?:拒收|拒绝)|被收件人|refusé par (?:le|son) destinataire|vom empfänger (?:abgelehnt|verweigert)`,
  String.raw`\b(?:rechazad[oa] por el|rifiutat[oa] dal|(?:recusad[oa]|rejeitad[oa]) pelo) destinat[aá]rio\b|\bgeweigerd door (?:de )?ontvanger\b|رفضه المستلم`,
);

export const UNWANTED_ABROAD = any(
  String.raw`垃圾邮件|垃圾郵件|黑名单|黑名單|病毒|拒收|迷惑メール|スパム|ウイルス|спам|вирус|ч[её]рн\S{1,3} спис|отклонен|indésirable|indesirable|non sollicité|correo no deseado|lista negra|liste noire|service refus[eé]`,
  String.raw`\bunerwünscht|\bsperrliste\b|\bschwarze liste\b|\bongewenst|\bzwarte lijst\b|\bindesiderat|\blista nera\b|\bindesejad|بريد (?:مزعج|عشوائي|غير مرغوب)|القائمة السوداء|فيروس`,
);

/** Nouns for a recipient. A refusal behind one of them is not about the sender. */
const RECIPIENT = String.raw`(?:benutzer|empf[aä]|postfach|konto|utilisateur|destinat|bo[iî]te|compte|usu[aá]ri|utente|utilizador|buz[oó]n|casella|caixa|cuenta|conta|gebruiker|ontvanger|postbus|użytkownik|odbiorc|skrzynk|пользоват|получат|ящик|kullanıcı|alıcı|user|recipient|mail ?box|account)`;

/** Matches the sender with a refusal up to three words later, or with an adjective in front. "Returned to the sender" does not match. */
function sender(noun: string, refused: string, adjectives = '(?!)'): string {
  const refusal = String.raw`(?: ?:)?(?: (?!${RECIPIENT})[^\s.;:,]+){0,3}(?: ?:)? (?:${refused})`;
  return String.raw`(?<!\p{L}|[àa] l.|\b(?:an|den|zum|al|ao|aan(?: de)?|retour) )(?:${noun})(?!\p{L})${refusal}|(?<!\p{L})(?:${adjectives}) (?:${noun})(?!\p{L})`;
}

/** The sender is refused, as in `SAYS_SENDER_REFUSED`: "unknown" or "not found" is about the sender then. */
export const SENDER_ABROAD = any(
  sender(
    String.raw`(?:e-?mail-?|mail-?)?absender(?:s|-?adresse|-?domain|-?domäne)?`,
    'abgelehnt|abgewiesen|zurückgewiesen|verweigert|unbekannt|ungültig|unzulässig|gesperrt|blockiert|nicht|existiert nicht',
    'unbekannter?|ungültiger?|unzulässiger?|gesperrter?',
  ),
  sender(
    'afzender(?:-?adres|-?domein)?',
    'geweigerd|afgewezen|onbekend|ongeldig|geblokkeerd|niet|bestaat niet',
    'onbekende?|ongeldige?|geweigerde?|geblokkeerde?',
  ),
  sender(
    'exp[ée]diteur|[ée]metteur|envoyeur',
    String.raw`rejet[ée]e?|refus[ée]e?|inconnue?|invalide|bloqu[ée]e?|interdite?|inexistante?|introuvable|non|pas|plus|n.?(?:est|existe|a) p`,
    'mauvais|faux',
  ),
  sender('remitente', 'rechazad[oa]|denegad[oa]|desconocid[oa]|inv[aá]lid[oa]|bloquead[oa]|inexistente|no'),
  sender(
    'remetente',
    'rejeitad[oa]|recusad[oa]|negad[oa]|desconhecid[oa]|inv[aá]lid[oa]|bloquead[oa]|inexistente|n[aã]o',
  ),
  sender('mittente', 'rifiutat[oa]|respint[oa]|negat[oa]|sconosciut[oa]|bloccat[oa]|inesistente|non'),
  sender(
    String.raw`nadawc\p{L}{1,3}`,
    String.raw`odrzucon\p{L}|nieznan\p{L}|nieprawidłow\p{L}|zablokowan\p{L}|nie`,
    String.raw`nieznany|nieprawidłowy`,
  ),
  sender(
    String.raw`отправител\p{L}{1,3}`,
    String.raw`отклон[её]н\p{L}*|отвергнут\p{L}*|неизвест\p{L}*|недейств\p{L}*|заблокир\p{L}*|запрещ[её]н\p{L}*|не`,
    String.raw`неизвестный|недействительный`,
  ),
  sender(
    String.raw`gönderen(?:in)?|gönderici(?:nin)?`,
    'reddedildi|bilinmiyor|geçersiz|engellendi|bulunamadı|mevcut değil',
    'bilinmeyen|geçersiz',
  ),
  String.raw`(?:差出人|送信者|送信元|発信者|発信元)(?!に|へ)[^。、,:：]{0,15}(?:拒否|不明|無効|存在しな|存在しま|許可され|見つか|正しく|受け付け)|(?:不明|無効)な(?:差出人|送信者|送信元)`,
  String.raw`(?<!إلى )(?:ال|لل)مرسل(?!\p{L}| إليه)[^.،,:]{0,25}(?:مرفوض|رفض|غير |محظور|لا يوجد|لم يتم)`,
);

/** No reason follows. With a reason, the refusal need not be about the existence of the address. */
const NO_REASON = String.raw`(?!\p{L}| ?[:：] ?\S| (?:par|wegen|por|per|door|aufgrund|en raison|devido|debido|a causa))`;
const NO_IP = String.raw`(?<!\bip[ -]?)`;

const rejected = (reason: string): RegExp =>
  any(
    String.raw`(?:${NO_IP}adresse|\bempfänger(?:-?adresse)?)${NEAR} (?:abgelehnt|abgewiesen|zurückgewiesen)${reason}`,
    String.raw`(?:${NO_IP}adres|\bontvanger(?:-?adres)?)${NEAR} (?:geweigerd|afgewezen)${reason}`,
    String.raw`\b(?:adresse(?! ip)|destinataires?)${NEAR} (?:rejet[ée]e?s?|refus[ée]e?s?)${reason}`,
    String.raw`\b(?:direcci[oó]n(?! ip)|destinatario)${NEAR} (?:rechazad[oa]|denegad[oa])${reason}`,
    String.raw`\b(?:endereço(?! ip)|destinat[aá]rio)${NEAR} (?:rejeitado|recusado)${reason}`,
    String.raw`\b(?:indirizzo(?! ip)|destinatario)${NEAR} (?:rifiutato|respinto)${reason}`,
    String.raw`(?:宛先|(?<!ip|差出人|送信者|送信元)アドレス)(?:は|が)?拒否され|(?:العنوان|عنوان البريد|المستلم) مرفوض${reason}|تم رفض (?:العنوان|المستلم)${reason}`,
  );

/** "Address rejected" with or without a reason, as in `SAYS_REFUSED`. */
export const REFUSED_ABROAD = rejected('');

/** "Address rejected" alone, as in `SAYS_UNAVAILABLE`. */
export const REJECTED_ABROAD = rejected(NO_REASON);

/** A group that does not exist or accepts no emails of this sender: Google names both in one sentence. */
export const GROUP_ABROAD = any(
  String.raw`(?:\bgrupo\b|\bgroupe\b|\bgruppe\b|\bgruppo\b|\bgroep\b|\bgrup\w*\b|\bgrupp\w*|групп|グループ|群组|群組|הקבוצה|קבוצה|그룹|مجموعة|المجموعة).{0,300}(?:permis|permess|berecht|autoris|erlaub|toestemming|uprawn|behörig|tillstånd|izin|oprávn|разреш|прав|権限|投稿|权限|權限|אישור|לפרסם|권한|إذن)`,
);
