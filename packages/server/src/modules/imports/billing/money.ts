/**
 * Converts to the amount that people write: 19.99 for 1999 cents, 1500 for 1500 yen. Stripe counts ISK and UGX in hundredths although they
 * have no coins of that value, so both are missing here on purpose.
 */
export function majorUnits(amount: number, currency: string): number {
  const digits = digitsOf(currency.toLowerCase());
  return Number((amount / 10 ** digits).toFixed(digits));
}

function digitsOf(currency: string): number {
  if (WITHOUT_MINOR_UNITS.has(currency)) return 0;
  return WITH_THREE_DIGITS.has(currency) ? 3 : 2;
}

const WITHOUT_MINOR_UNITS = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));
const WITH_THREE_DIGITS = new Set('bhd jod kwd omr tnd'.split(' '));
