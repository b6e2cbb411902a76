/** The work, or an error once the time is over; what the work comes to after that is nobody's concern. */
export async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`No answer within ${Math.round(limitMs)} ms`)),
    limitMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
