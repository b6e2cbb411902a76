export const SANDBOX_TEXT =
  'Separate data for tests, used with `sk_test_` keys. No email leaves this machine, and you control the clock. Rules, audiences, templates and settings are copied when you first turn it on.';
