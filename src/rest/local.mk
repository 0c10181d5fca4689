# rest: one declared request over HTTPS: template, parameters
libcore_a_SOURCES += \
	src/rest/rest-declaration.c src/rest/rest-declaration.h \
	src/rest/rest-proto.h \
	src/rest/rest-request.c src/rest/rest-request.h \
	src/rest/rest-template.c src/rest/rest-template.h

# custody-rest: makes the request.  Dynamic: no static libcurl exists with all that it needs, and only tools of kind rest start it.
if CURL
pkglibexec_PROGRAMS += custody-rest
custody_rest_SOURCES = src/rest/rest-main.c src/rest/rest-transfer.c src/rest/rest-transfer.h
custody_rest_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS)
custody_rest_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS) $(SAN_FLAGS)
custody_rest_LDADD = libcore.a libbase.a $(CURL_LIBS) $(MIXED_LIBS)
endif
