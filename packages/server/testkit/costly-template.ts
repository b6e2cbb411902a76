/** A body of 40 kB that compares two lists of 20,000 items 1,500 times. It took 14 seconds before work was counted. */
export function costlyBody(): string {
  const list = `"${'x'.repeat(20_000)}" | split: ""`;
  const compares = Array.from({ length: 15 }, () => 'a!=b').join(' or ');
  return `{% assign a = ${list} %}{% assign b = ${list} %}{% for i in (1..100) %}{% if ${compares} %}{% endif %}{% endfor %}`;
}
