const KEPT_AS = 'beckon-project';

export function lastProject(): string | null {
  return localStorage.getItem(KEPT_AS);
}

export function keepLastProject(id: number): void {
  localStorage.setItem(KEPT_AS, String(id));
}

export function forgetLastProject(): void {
  localStorage.removeItem(KEPT_AS);
}
