/* No test, no excuse. */
