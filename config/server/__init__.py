"""The HTTP server: a worker for gunicorn, and what answers a request before Django's handler.

A worker process has one loop and a few threads. The loop accepts connections, parses and writes. It sends
statements to PostgreSQL, but never waits for their results. Threads do all that may wait. A request goes this
way:

1. ``worker`` accepts the connection, as a ``DocumentConnection``. This class and its bases,
   ``SurfaceConnection`` and ``Connection``, each serve the requests that they know, and leave the others to
   the next base. While no place for hashing a password is free, ``overload`` refuses requests that need one
   by their bytes, and a new connection begins as a ``waiting_connection``, which costs less.
2. ``connection`` parses the request and limits what a client can hold. ``heads`` refuses malformed heads
   that gunicorn's parser accepts. ``body_receivers`` returns what has arrived of the body.
   ``write_progress`` ends the connection of a client that does not read.
3. If the request is for a public document (``documents``), the loop answers it once a thread has read the
   document. Requests share these reads (``shared_reads``). ``document_responses`` completes the answer. If
   the worker has seen the same bytes before (``known_heads``), they are not even parsed.
4. Otherwise ``wsgi_requests`` builds the environment, which is what WSGI applications get. If the request is
   for a surface (``surfaces``), it is served together with other requests of its route (``batches``): by the
   loop, on a database connection of its own (``loop_connections``), or by a thread if the loop has no
   connection or would have to wait. ``raw_responses`` makes the bytes of the answers of steps 3 and 4.
5. Otherwise ``early_refusals`` refuses the request if it needs a place for hashing a password and none is
   free, with an answer that was made before (``overload_answers``).
6. Otherwise a thread calls the application of ``config.wsgi``. That tries the surface if no batch has, then
   prepares the request (``content_types``, ``chunked_bodies``) and calls Django's handler. Two classes of its
   middleware are here: ``load_shedding`` and ``body_limits``. ``wsgi_responses`` sends the response.

In steps 3 and 4, Django's handler does not run, so ``checked_database`` looks after the thread's database
connection. ``reason_phrases`` completes gunicorn's table for the status lines of all responses.
"""
